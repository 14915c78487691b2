import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ClockSteps } from '../../../coordinator/clock-steps.js';
import { expireJoinTokens } from '../../../coordinator/hub/identity/join-token-expiry.js';
import { newJoinToken, tokenSecret } from '../../../coordinator/hub/identity/new-join-token.js';
import { eventKind, namespaceKind, secretKind } from '../../../coordinator/kinds/index.js';
import { runScheduledBackup, startScheduledJobs } from '../../../coordinator/scheduled-jobs.js';
import { Compaction } from '../../../coordinator/store/log/history-retention.js';
import { openSqliteStore } from '../../../coordinator/store/sqlite/sqlite-store.js';
import { Expired } from '../../../coordinator/store/store.js';
import { ExitError } from '../../../shared/process/exit-error.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  type ControlPlane,
  joinNode,
  withControlPlane,
} from '../../harness/controllers/control-plane-fixture.js';
import { MemoryStore } from '../../harness/controllers/memory-store.js';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

describe('compaction', () => {
  test('history is kept for one period', async () => {
    const store = new MemoryStore();
    const compaction = new Compaction(store);
    const first = await store.create('/a', Buffer.from('1'));
    await store.update('/a', Buffer.from('2'));
    await compaction.run();
    const page = { continue: { afterKey: '/', revision: first } };
    assert.equal((await store.list('/', page)).items.length, 1);
    await compaction.run();
    await assert.rejects(store.list('/', page), Expired);
  });
});

describe('token expiry', () => {
  withControlPlane('an expired join token is deleted, others are kept', async (plane) => {
    const now = plane.clock.now();
    await plane.registry.create(namespaceKind, undefined, { metadata: { name: 'kube-system' } });
    for (const expiresAt of [now + 1_000, now + 3_600_000, undefined]) {
      await plane.registry.create(
        secretKind,
        'kube-system',
        tokenSecret(newJoinToken(), { expiresAtMs: expiresAt }),
      );
    }
    await plane.advance(2_000);
    assert.equal(await expireJoinTokens(plane.registry, plane.clock), 1);
    assert.equal((await plane.registry.list(secretKind)).records.length, 2);
  });
});

describe('event expiry', () => {
  const HALF_AN_HOUR = 1_800_000;
  const eventsIn = async (plane: ControlPlane) => {
    const { records } = await plane.registry.list(eventKind);
    return records.map((event) => [event.object().reason, event.object().count]);
  };
  const teller = async (plane: ControlPlane) => {
    await joinNode(plane, 'n1');
    const record = plane.events.forComponent('test');
    const node = plane.informers.nodes.get({ name: 'n1' });
    assert.ok(node);
    return (reason: string) => record(node, 'Normal', reason, reason);
  };

  withControlPlane('an Event is deleted an hour after it last occurred', async (plane) => {
    const tell = await teller(plane);
    tell('Once');
    tell('Again');
    await plane.advance(HALF_AN_HOUR);
    tell('Again');
    await plane.advance(HALF_AN_HOUR + 1_000);
    assert.equal(await plane.eventStore.expire(), 1);
    assert.deepEqual(await eventsIn(plane), [['Again', 2]]);
  });

  withControlPlane('an Event that occurred again between two runs is kept', async (plane) => {
    const tell = await teller(plane);
    assert.equal(await plane.eventStore.expire(), 0);
    tell('Early');
    tell('Again');
    await plane.advance(1_000);
    assert.equal(await plane.eventStore.expire(), 0);
    await plane.advance(HALF_AN_HOUR);
    tell('Again');
    await plane.advance(HALF_AN_HOUR - 2_000);
    assert.equal(await plane.eventStore.expire(), 0);
    await plane.advance(3_000);
    assert.equal(await plane.eventStore.expire(), 1);
    assert.deepEqual(await eventsIn(plane), [['Again', 2]]);
    await plane.advance(2 * HALF_AN_HOUR);
    assert.equal(await plane.eventStore.expire(), 1);
    assert.deepEqual(await eventsIn(plane), []);
  });

  withControlPlane('an Event with a time in the future does not block others', async (plane) => {
    const tell = await teller(plane);
    const involvedObject = { kind: 'Node', name: 'n1' };
    const future = { metadata: { name: 'later' }, involvedObject, lastTimestamp: '2999-01-01T00:00:00Z' };
    await plane.registry.create(eventKind, 'default', future);
    assert.equal(await plane.eventStore.expire(), 0);
    tell('After');
    await plane.advance(1_000);
    assert.equal(await plane.eventStore.expire(), 0);
    await plane.advance(2 * HALF_AN_HOUR + 1_000);
    assert.equal(await plane.eventStore.expire(), 2);
    assert.deepEqual(await eventsIn(plane), []);
  });

  for (const isFirstRunLater of [false, true])
    withControlPlane(
      `a clock that is set ahead ${isFirstRunLater ? 'before' : 'after'} the first run deletes no recent Event`,
      async (plane) => {
        const tell = await teller(plane);
        tell('Before');
        await plane.advance(1_000);
        if (!isFirstRunLater) assert.equal(await plane.eventStore.expire(), 0);
        plane.clock.stepWallClock(YEAR_MS);
        assert.equal(await plane.eventStore.expire(), 0);
        await plane.advance(HALF_AN_HOUR);
        assert.equal(await plane.eventStore.expire(), 0);
        assert.deepEqual(await eventsIn(plane), [['Before', 1]]);
        await plane.advance(HALF_AN_HOUR + 1_000);
        assert.equal(await plane.eventStore.expire(), 1);
      },
    );
});

const others = {
  restore: { logReminder: () => undefined },
  renewCertificate: async () => undefined,
  sinceClockStepMs: () => 0,
};
const wish = (schedule: string) => ({ schedule, dataDir: '/nowhere', directory: '/nowhere', keep: 1 });

describe('schedules', () => {
  withControlPlane('they start and stop without keeping the process alive', async (plane) => {
    const schedules = startScheduledJobs({ ...plane, ...others, backups: wish('@daily') });
    await schedules.stop();
  });
  withControlPlane(
    'a clock that is a year ahead for a while deletes no join token; an expired one is deleted after an hour of the right clock',
    async (plane) => {
      const steps = new ClockSteps({ clock: plane.clock, log: silentLogger });
      steps.start();
      const sinceClockStepMs = () => steps.sinceStepMs();
      const schedules = startScheduledJobs({ ...plane, ...others, sinceClockStepMs, backups: wish('off') });
      await plane.registry.create(namespaceKind, undefined, { metadata: { name: 'kube-system' } });
      const expiresAtMs = plane.clock.now() + 4 * HOUR_MS;
      await plane.registry.create(secretKind, 'kube-system', tokenSecret(newJoinToken(), { expiresAtMs }));
      const tokensAfter = async (hours: number): Promise<number> => {
        for (let quarter = 0; quarter < hours * 4; quarter += 1) await plane.advance(HOUR_MS / 4);
        return (await plane.registry.list(secretKind)).records.length;
      };
      assert.equal(await tokensAfter(2), 1);
      plane.clock.stepWallClock(YEAR_MS);
      assert.equal(await tokensAfter(0.75), 1);
      plane.clock.stepWallClock(-YEAR_MS);
      assert.equal(await tokensAfter(1), 1);
      assert.equal(await tokensAfter(2), 0);
      schedules.stop();
      steps.stop();
    },
  );
  withControlPlane('an invalid backup schedule is rejected at the start', async (plane) => {
    const start = () => startScheduledJobs({ ...plane, ...others, backups: wish('at night') });
    assert.throws(start, ExitError);
  });
  test('a backup is named by its time, and the oldest are deleted', async () => {
    const dataDir = temporaryDirectory();
    const directory = join(dataDir, 'backups');
    const clock = new ManualClock(Date.parse('2026-01-31T03:17:00Z'));
    const store = await openSqliteStore({ dataDir, clock, log: silentLogger });
    for (let day = 0; day < 3; day++) {
      await runScheduledBackup({ schedule: 'off', dataDir, directory, keep: 2 }, clock, silentLogger);
      clock.advance(86_400_000);
    }
    await store.close();
    const names = [1, 2].map((day) => `scheduled-2026-02-0${day}T03-17-00Z.tar.gz`);
    assert.deepEqual(readdirSync(directory).sort(), names);
  });
});
