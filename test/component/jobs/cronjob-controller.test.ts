/** CronJobs start Jobs at the times of their schedule, each once, also after a kill. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobFixture } from '../../harness/controllers/job-fixture.js';
import type { Kill } from '../../harness/controllers/write-kills.js';

const EVERY_MINUTE = '* * * * *';

async function withFixture(
  ends: 'Succeeded' | undefined,
  work: (fixture: JobFixture) => Promise<void>,
  kill?: Kill,
): Promise<void> {
  const fixture = await JobFixture.start(() => ends, kill);
  try {
    await work(fixture);
  } finally {
    await fixture.stop();
  }
}

test('a CronJob starts a Job each minute and keeps three of them', () =>
  withFixture('Succeeded', async (fixture) => {
    await fixture.createCronJob('tick', { schedule: EVERY_MINUTE });
    await fixture.run(24);
    const starts = fixture.events.filter((event) => event.startsWith('SuccessfulCreate Created job tick-'));
    assert.ok(starts.length >= 5, starts.join('\n'));
    assert.equal(new Set(starts).size, starts.length, 'each Job is created once');
    assert.ok(fixture.jobs().length <= 4, `${fixture.jobs().length} Jobs`);
    assert.ok(fixture.cronJob('tick')?.status?.lastSuccessfulTime);
    assert.ok(
      fixture.events.some((event) =>
        /^SawCompletedJob Saw completed job: tick-\d+, condition: Complete$/.test(event),
      ),
    );
    assert.deepEqual(
      fixture.events.filter((event) => /MissingJob|UnexpectedJob/.test(event)),
      [],
    );
  }));

test('concurrencyPolicy Forbid starts no second Job while one runs', () =>
  withFixture(undefined, async (fixture) => {
    await fixture.createCronJob('one', { schedule: EVERY_MINUTE, concurrencyPolicy: 'Forbid' });
    await fixture.run(16);
    assert.equal(fixture.jobs().length, 1);
    assert.ok(
      fixture.events.includes(
        'JobAlreadyActive Not starting job because prior execution is running and concurrency policy is Forbid',
      ),
    );
  }));

test('concurrencyPolicy Replace deletes the Job that runs', () =>
  withFixture(undefined, async (fixture) => {
    await fixture.createCronJob('last', { schedule: EVERY_MINUTE, concurrencyPolicy: 'Replace' });
    await fixture.run(16);
    const active = fixture.cronJob('last')?.status?.active ?? [];
    assert.equal(active.length, 1);
    assert.ok(fixture.events.some((event) => /^SuccessfulDelete Deleted job last-\d+$/.test(event)));
    assert.deepEqual(
      fixture.events.filter((event) => event.startsWith('MissingJob')),
      [],
    );
  }));

test('a suspended CronJob starts nothing', () =>
  withFixture(undefined, async (fixture) => {
    await fixture.createCronJob('off', { schedule: EVERY_MINUTE, suspend: true });
    await fixture.run(12);
    assert.deepEqual(fixture.jobs(), []);
  }));

for (const when of ['before', 'after'] as const) {
  test(`a CronJob that is killed ${when} its first writes starts each Job once and lists it`, async () => {
    for (let atWrite = 1; atWrite <= 6; atWrite += 1) {
      await withFixture(
        undefined,
        async (fixture) => {
          await fixture.createCronJob('tick', { schedule: EVERY_MINUTE, concurrencyPolicy: 'Forbid' });
          await fixture.run(9);
          assert.equal(fixture.jobs().length, 1, `write ${atWrite}`);
          assert.equal(fixture.cronJob('tick')?.status?.active?.length, 1, `write ${atWrite}`);
        },
        { atWrite, when },
      );
    }
  });
}
