/** CronDaemonJobs over a memory store: DaemonJobs ahead of their time, time zones, suspension, history, kills. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podKind } from '../../../coordinator/kinds/index.js';
import { startRulesOf } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  type DaemonJob,
  type DaemonJobSpec,
  daemonJobFinishedAs,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { PodPhase } from '../../../shared/kube/pods/pod-types.js';
import { DaemonJobFixture } from '../../harness/controllers/daemonjob-fixture.js';
import type { Kill } from '../../harness/controllers/write-kills.js';

const HOUR = 3_600_000;
/** The clock starts at midnight UTC of 1 January. */
const HOURLY = { schedule: '0 * * * *', timeZone: 'UTC' };

async function withHosts(
  hosts: number,
  ending: PodPhase | undefined,
  work: (fixture: DaemonJobFixture) => Promise<void>,
  kill?: Kill,
): Promise<void> {
  const fixture = await DaemonJobFixture.start(hosts, () => ending, kill);
  try {
    await work(fixture);
  } finally {
    await fixture.stop();
  }
}

const starts = (fixture: DaemonJobFixture) => fixture.jobs().map(({ spec }) => spec.startAt);
const finished = (jobs: DaemonJob[]) => jobs.filter((job) => daemonJobFinishedAs(job)).length;

describe('a CronDaemonJob', () => {
  test('gives its hosts the next run ahead of time', () =>
    withHosts(2, 'Succeeded', async (fixture) => {
      await fixture.createCron(HOURLY);
      await fixture.run(1);
      assert.deepEqual(starts(fixture), ['2026-01-01T01:00:00Z']);
      assert.deepEqual(
        fixture.pods().map((pod) => startRulesOf(pod)?.at),
        ['2026-01-01T01:00:00Z', '2026-01-01T01:00:00Z'],
      );
      const { active, lastScheduleTime, nextScheduleTime } = fixture.cron()?.status ?? {};
      assert.deepEqual(
        [active, lastScheduleTime, nextScheduleTime],
        [undefined, undefined, '2026-01-01T01:00:00Z'],
      );
      const [job] = fixture.jobs();
      assert.deepEqual(
        [job?.status?.startTime, job?.status?.waiting, job?.status?.active],
        [undefined, 2, 0],
      );
    }));

  test('runs each time once, keeps its history and reports its times', () =>
    withHosts(2, 'Succeeded', async (fixture) => {
      await fixture.createCron(HOURLY);
      await fixture.run(26, HOUR / 4);
      assert.equal(fixture.cron()?.status?.lastScheduleTime, '2026-01-01T06:00:00Z');
      assert.ok(fixture.cron()?.status?.lastSuccessfulTime);
      assert.equal(finished(fixture.jobs()), 3);
      assert.equal(starts(fixture).at(-1), '2026-01-01T07:00:00Z');
      const created = fixture.events.filter((event) => /^SuccessfulCreate Created job/.test(event));
      assert.equal(created.length, 7);
      assert.equal(new Set(created).size, 7);
      assert.ok(
        fixture.events.some((event) =>
          /^SawCompletedJob Saw completed job: work-\d+, condition: Complete$/.test(event),
        ),
      );
      assert.deepEqual(
        fixture.events.filter((event) => /Missing|Unexpected/.test(event)),
        [],
      );
    }));

  test('shows a run as active once it has begun', () =>
    withHosts(1, 'Running', async (fixture) => {
      await fixture.createCron(HOURLY);
      await fixture.run(5, HOUR / 4);
      assert.deepEqual(
        fixture.cron()?.status?.active?.map(({ name }) => name),
        [fixture.jobs()[0]?.metadata.name],
      );
      assert.equal(fixture.jobs().length, 2);
    }));

  test('suspension withdraws the next run, and the run that has begun continues', () =>
    withHosts(1, 'Running', async (fixture) => {
      await fixture.createCron(HOURLY);
      await fixture.run(5, HOUR / 4);
      await fixture.changeCron({ suspend: true });
      await fixture.run(2);
      assert.deepEqual(starts(fixture), ['2026-01-01T01:00:00Z']);
      assert.equal(fixture.cron()?.status?.nextScheduleTime, undefined);
      await fixture.changeCron({ suspend: false });
      await fixture.run(1);
      assert.deepEqual(starts(fixture), ['2026-01-01T01:00:00Z', '2026-01-01T02:00:00Z']);
    }));

  test('a changed template replaces the next run', () =>
    withHosts(1, 'Succeeded', async (fixture) => {
      await fixture.createCron(HOURLY);
      await fixture.run(1);
      const before = fixture.jobs()[0]?.metadata.uid;
      const template = { spec: { containers: [{ name: 'work', image: 'work:2' }] } };
      await fixture.changeCron({ jobTemplate: { spec: { template } } });
      await fixture.run(2);
      const [job] = fixture.jobs();
      assert.notEqual(job?.metadata.uid, before);
      assert.equal(job?.spec.template.spec.containers[0]?.image, 'work:2');
      assert.equal(fixture.jobs().length, 1);
    }));

  test('starts the last of several times that came while no coordinator ran', () =>
    withHosts(1, 'Succeeded', async (fixture) => {
      await fixture.createCron(HOURLY);
      await fixture.run(1);
      await fixture.stepWallClock(5 * HOUR + HOUR / 2);
      await fixture.run(3);
      assert.deepEqual(starts(fixture), [
        '2026-01-01T01:00:00Z',
        '2026-01-01T05:00:00Z',
        '2026-01-01T06:00:00Z',
      ]);
      assert.equal(finished(fixture.jobs()), 2);
    }));

  test('continues after the clock was set back', () =>
    withHosts(1, 'Succeeded', async (fixture) => {
      await fixture.createCron(HOURLY);
      await fixture.run(10, HOUR / 4);
      await fixture.stepWallClock(-2 * HOUR);
      await fixture.run(10, HOUR / 4);
      assert.ok(fixture.jobs().length >= 2, starts(fixture).join());
      assert.equal(
        Date.parse(fixture.cron()?.status?.nextScheduleTime ?? '') > fixture.plane.clock.now(),
        true,
      );
    }));

  test('a host that was off past the deadline has missed the run', () =>
    withHosts(2, 'Succeeded', async (fixture) => {
      await fixture.setOffline('node-2', true);
      await fixture.createCron({ ...HOURLY, startingDeadlineSeconds: 600 });
      await fixture.run(6, HOUR / 4);
      assert.deepEqual(fixture.phases(), ['node-1=Succeeded', 'node-2=Missed']);
      assert.equal(fixture.results()[1]?.reason, 'MissSchedule');
    }));
});

test('a host without room for the Pods of a CronDaemonJob misses each run at the next one', () =>
  withHosts(1, undefined, async (fixture) => {
    // No Pod gets a node.
    await fixture.createCron(HOURLY);
    await fixture.run(26, HOUR / 4);
    assert.deepEqual(
      fixture.jobs().map((job) => [job.spec.startAt, daemonJobFinishedAs(job)]),
      [
        ['2026-01-01T05:00:00Z', 'Failed'],
        ['2026-01-01T06:00:00Z', undefined],
        ['2026-01-01T07:00:00Z', undefined],
      ],
    );
    assert.equal(fixture.pods().length, 2);
    const ends = fixture.results().map(({ phase, reason }) => `${phase} ${reason}`);
    assert.deepEqual([...new Set(ends)], ['Missed MissSchedule']);
  }));

describe('a CronDaemonJob without a time zone', () => {
  test("starts at each host's own local time", () =>
    withHosts(3, 'Succeeded', async (fixture) => {
      await fixture.setTimeZone('node-1', 'Asia/Tokyo');
      await fixture.setTimeZone('node-2', 'America/New_York');
      await fixture.createCron({ schedule: '0 12 * * *' });
      await fixture.run(1);
      assert.deepEqual(starts(fixture), ['2026-01-01T12:00:00']);
      const rules = Object.fromEntries(
        fixture.pods().map((pod) => [pod.metadata.name.split('.')[1], startRulesOf(pod)?.at]),
      );
      assert.deepEqual(rules, {
        'node-1': '2026-01-01T03:00:00Z',
        'node-2': '2026-01-01T17:00:00Z',
        'node-3': '2026-01-01T12:00:00Z',
      });
      assert.equal(fixture.cron()?.status?.nextScheduleTime, '2026-01-01T03:00:00Z');
      await fixture.run(4, HOUR);
      assert.deepEqual(
        starts(fixture),
        ['2026-01-01T12:00:00', '2026-01-02T12:00:00'],
        'Tokyo knows its next run',
      );
      assert.deepEqual(fixture.phases(), ['node-1=Succeeded']);
    }));

  test('starts each run once while clocks are set back, also if finished runs are deleted', () =>
    withHosts(1, 'Succeeded', async (fixture) => {
      await fixture.setTimeZone('node-1', 'Europe/Berlin');
      // Clocks show 02:00 to 03:00 again from 01:00 UTC.
      await fixture.stepWallClock(Date.parse('2026-10-25T00:15:00Z') - fixture.plane.clock.now());
      await fixture.createCron({ schedule: '*/20 * * * *', successfulJobsHistoryLimit: 0 });
      await fixture.run(12, HOUR / 12);
      // Without a restart no reconcile happens in the repeated hour.
      await fixture.restartController();
      await fixture.run(12, HOUR / 12);
      const created = fixture.events.filter((event) => /^SuccessfulCreate /.test(event));
      assert.equal(new Set(created).size, created.length, created.join());
      // 02:20, 02:40, 03:00, and no second start of the first two.
      assert.equal(fixture.successes.get('node-1'), 3);
      assert.deepEqual(starts(fixture), ['2026-10-25T03:20:00']);
    }));

  test('suspension keeps the run from the hosts that it has not reached', () =>
    withHosts(2, 'Succeeded', async (fixture) => {
      await fixture.setTimeZone('node-1', 'Asia/Tokyo');
      await fixture.createCron({ schedule: '0 12 * * *' });
      await fixture.run(5, HOUR);
      await fixture.changeCron({ suspend: true });
      await fixture.run(12, HOUR);
      assert.deepEqual([...fixture.successes.keys()], ['node-1']);
      assert.deepEqual(starts(fixture), ['2026-01-01T12:00:00']);
      assert.ok(!fixture.events.some((event) => event.startsWith('BackoffLimitExceeded')));
      await fixture.run(20, HOUR);
      assert.deepEqual(fixture.phases(), ['node-1=Succeeded', 'node-2=Missed']);
      assert.equal(fixture.results()[1]?.failures, 0, 'a withdrawn Pod is no failure');
    }));

  test('a host whose time zone changes gets another start', () =>
    withHosts(1, 'Succeeded', async (fixture) => {
      await fixture.createCron({ schedule: '0 12 * * *' });
      await fixture.run(1);
      await fixture.setTimeZone('node-1', 'America/New_York');
      await fixture.run(1);
      assert.deepEqual(
        fixture.pods().map((pod) => startRulesOf(pod)?.at),
        ['2026-01-01T17:00:00Z'],
      );
    }));
});

describe('a Pod with a start time', () => {
  /** Creates the job and binds its Pod, like the scheduler. */
  const createBound = async (fixture: DaemonJobFixture, spec: Partial<DaemonJobSpec>) => {
    await fixture.createJob({ startAt: '2026-01-01T01:00:00Z', ...spec });
    await fixture.run(1);
    for (const { metadata } of fixture.pods()) await fixture.plane.registry.bind(metadata, 'node-1');
  };

  test('that is deleted without grace on an offline host never runs again with AtMostOnce', () =>
    withHosts(1, 'Succeeded', async (fixture) => {
      await createBound(fixture, { retry: 'AtMostOnce' });
      await fixture.setOffline('node-1', true);
      await fixture.run(2, HOUR);
      const [pod] = fixture.pods();
      assert.ok(pod && pod.status?.phase === 'Pending', 'the coordinator does not know of the start');
      await fixture.plane.registry.delete(podKind, pod.metadata, { gracePeriodSeconds: 0 });
      await fixture.run(1);
      await fixture.setOffline('node-1', false);
      await fixture.run(3);
      assert.equal(fixture.created.get('node-1')?.size, 1);
      assert.deepEqual(fixture.phases(), ['node-1=Failed']);
    }));

  for (const terminationGracePeriodSeconds of [0, 30]) {
    const rule = `that is withdrawn is no failure with a grace period of ${terminationGracePeriodSeconds} s`;
    test(rule, () =>
      withHosts(1, 'Succeeded', async (fixture) => {
        const spec = { terminationGracePeriodSeconds, containers: [{ name: 'work', image: 'work:1' }] };
        await createBound(fixture, { template: { spec } });
        await fixture.changeJob({ suspend: true });
        await fixture.run(2);
        assert.deepEqual([fixture.pods(), fixture.results()], [[], []]);
        await fixture.changeJob({ suspend: false });
        await fixture.run(4, HOUR / 2);
        assert.deepEqual(
          fixture.results().map(({ phase, attempts }) => [phase, attempts]),
          [['Succeeded', 1]],
        );
      }),
    );
  }
});

for (const when of ['before', 'after'] as const) {
  test(`a CronDaemonJob whose controllers are killed ${when} any write runs each time once`, async () => {
    for (let atWrite = 1; atWrite <= 14; atWrite += 1) {
      await withHosts(
        1,
        'Succeeded',
        async (fixture) => {
          await fixture.createCron({ ...HOURLY, successfulJobsHistoryLimit: 10 });
          await fixture.run(14, HOUR / 4);
          assert.equal(finished(fixture.jobs()), 3, `write ${atWrite}: ${starts(fixture).join()}`);
          assert.equal(fixture.created.get('node-1')?.size, 4, `write ${atWrite}`);
        },
        { atWrite, when },
      );
    }
  });
}
