/** A standby whose database cannot follow the log retries without a hot loop, and stops at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { SealError } from '../../../coordinator/cluster/keys/sealed-value.js';
import { Standby } from '../../../coordinator/cluster/standby/standby.js';
import { coordinatorObjects } from '../../../coordinator/decisions/cluster/coordinator-objects.js';
import { LOG_FORMAT, type LogEntry } from '../../../coordinator/store/replica/log-entry.js';
import type { Leader } from '../../../coordinator/store/replica/replicated-log.js';
import type { OpenMemberDatabase } from '../../../coordinator/store/sqlite/member-database.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { ManualClock } from '../../../shared/process/time/clock.js';
import { MemoryCluster } from '../../harness/replica/memory-cluster.js';
import { MemoryEngine } from '../../harness/replica/memory-engine.js';

const NAME = { clusterUID: 'fleet', generation: 'first' };

class Fixture {
  readonly clock = new ManualClock();
  readonly engine = new MemoryEngine(this.clock);
  readonly leader = this.connect();
  readonly seen: (Leader | undefined)[] = [];

  connect(): MemoryCluster {
    return new MemoryCluster(this.engine, NAME);
  }

  /** A standby, without a database unless `change` has one. */
  standby(
    takeSnapshot: (leader: Leader, signal: AbortSignal) => Promise<void>,
    log = silentLogger,
    change: Partial<ConstructorParameters<typeof Standby>[0]> = {},
  ): Standby {
    return new Standby({
      ...{ memberId: 'b', bootId: 'boot', generation: 'first' },
      acquireLock: () => ({ release: () => undefined }),
      openDatabase: () => undefined,
      ...{ storage: this.connect().storage, clock: this.clock, log, takeSnapshot },
      syncKeys: async () => undefined,
      isMember: async () => true,
      onLeader: async (leader) => void this.seen.push(leader),
      ...change,
    });
  }

  async advance(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 50) {
      for (let turns = 0; turns < 10; turns += 1) await turn();
      this.clock.advance(50);
    }
    for (let turns = 0; turns < 10; turns += 1) await turn();
  }

  async lead(memberId: string, bootId = 'boot'): Promise<void> {
    const leading = this.leader.storage.campaign({ memberId, bootId });
    await this.advance(100);
    assert.ok(await leading);
  }
}

test('a snapshot that fails is taken again after five seconds, while the leader is looked up', async () => {
  const fixture = new Fixture();
  await fixture.lead('a');
  let snapshots = 0;
  const standby = fixture.standby(async () => {
    snapshots += 1;
    throw new Error('the leader is busy');
  });
  const ended = standby.untilElected();
  await fixture.advance(4_000);
  assert.equal(snapshots, 1);
  assert.ok(fixture.seen.length >= 6, `${fixture.seen.length} looks`);
  await fixture.advance(2_000);
  assert.equal(snapshots, 2);
  standby.stop();
  await fixture.advance(500);
  assert.equal(await ended, undefined);
});

test('a download ends when the leader is another one, and at a stop', async () => {
  const fixture = new Fixture();
  await fixture.lead('a');
  const signals: AbortSignal[] = [];
  const standby = fixture.standby((_, signal) => {
    signals.push(signal);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  });
  const ended = standby.untilElected();
  await fixture.advance(1_000);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false],
  );
  fixture.leader.faults.loseLeases();
  await fixture.advance(1_000);
  assert.equal(signals[0]?.aborted, true);
  assert.equal(fixture.seen.at(-1), undefined);
  await fixture.lead('c');
  await fixture.advance(6_000);
  assert.equal(signals.length, 2);
  standby.stop();
  await fixture.advance(500);
  assert.equal(await ended, undefined);
  assert.equal(signals[1]?.aborted, true);
});

test('a copy of the data directory of the leader is reported once, and leaves the leader alone', async () => {
  const fixture = new Fixture();
  await fixture.lead('b', 'boot.copied-from');
  const errors: string[] = [];
  const log = { ...silentLogger, error: (text: string) => void errors.push(text) } as typeof silentLogger;
  const standby = fixture.standby(async () => assert.fail('no snapshot of itself'), log);
  const ended = standby.untilElected();
  await fixture.advance(12_000);
  assert.deepEqual(errors, []);
  await fixture.advance(10_000);
  assert.equal(errors.length, 1);
  assert.match(String(errors[0]), /data directory is a copy/);
  assert.equal(fixture.seen.at(-1)?.bootId, 'boot.copied-from');
  standby.stop();
  await fixture.advance(500);
  await ended;
});

test('a member reports itself as a follower only after it has read the log, and reports each change at once', async () => {
  const fixture = new Fixture();
  await fixture.lead('a');
  const reported: string[] = [];
  const standby: Standby = fixture.standby(async () => assert.fail('no snapshot is needed'), silentLogger, {
    openDatabase: emptyDatabase,
    onStateChange: () => void reported.push(stateOf(standby)),
  });
  assert.equal(stateOf(standby), 'Starting');
  const ended = standby.untilElected();
  await fixture.advance(2_000);
  assert.deepEqual(reported, ['follower']);
  standby.stop();
  await fixture.advance(500);
  await ended;
});

/** The reason of the state, or the role of a standby that can lead. */
const stateOf = ({ state }: Standby) => (state.role === 'impeded' ? state.reason : state.role);

/** The database of a member that has every entry of an empty log. */
function emptyDatabase(): OpenMemberDatabase {
  return {
    position: { generation: 'first', record: 0, term: 0, chain: '' },
    apply: async () => undefined,
    sync: async () => undefined,
    close: async () => undefined,
  };
}

test('a member that was removed reports it while another one leads, and asks for no snapshot', async () => {
  const fixture = new Fixture();
  await fixture.lead('a');
  let snapshots = 0;
  let isMember = true;
  const standby = fixture.standby(
    async () => {
      snapshots += 1;
      throw new Error('the leader does not know this member');
    },
    silentLogger,
    { isMember: async () => isMember },
  );
  const ended = standby.untilElected();
  await fixture.advance(1_000);
  assert.equal(stateOf(standby), 'SnapshotNeeded');
  assert.equal(snapshots, 1);
  isMember = false;
  await fixture.advance(11_000);
  assert.equal(stateOf(standby), 'Removed');
  const before = snapshots;
  await fixture.advance(10_000);
  assert.equal(snapshots, before);
  standby.stop();
  await fixture.advance(500);
  await ended;
});

test("a follower that cannot use the fleet's keys reports it, follows the log, and does not lead", async () => {
  const fixture = new Fixture();
  await fixture.lead('a');
  let isUsable = false;
  const standby = fixture.standby(async () => assert.fail('no snapshot is needed'), silentLogger, {
    openDatabase: emptyDatabase,
    syncKeys: async () => {
      if (!isUsable) throw new SealError('the value was sealed under another key');
    },
  });
  const ended = standby.untilElected();
  await fixture.advance(1_000);
  assert.equal(stateOf(standby), 'KeysUnusable');
  fixture.leader.faults.loseLeases();
  await fixture.advance(5_000);
  assert.equal(await fixture.leader.storage.leader(), undefined);
  isUsable = true;
  await fixture.advance(11_000);
  assert.equal((await ended)?.leadership.term !== undefined, true);
});

test('in a rolling upgrade a follower that cannot read a newer entry stops, reports it, and never leads', async () => {
  const fixture = new Fixture();
  const leading = fixture.leader.storage.campaign({ memberId: 'a', bootId: 'boot' });
  await fixture.advance(100);
  const term = (await leading)?.term ?? 0;
  const applied: LogEntry[] = [];
  const database: OpenMemberDatabase = {
    position: { generation: 'first', record: 0, term: 0, chain: '' },
    apply: async (entry) => void applied.push(entry),
    sync: async () => undefined,
    close: async () => undefined,
  };
  const standby = fixture.standby(async () => assert.fail('a snapshot does not help'), silentLogger, {
    openDatabase: () => database,
  });
  const ended = standby.untilElected();
  await fixture.advance(1_000);
  assert.deepEqual(standby.state, { role: 'follower' });
  // One record with a whole entry, as a newer version writes it.
  const bytes = Buffer.of(0b11, LOG_FORMAT + 1, 0, 1, 2, 3);
  const appending = fixture.leader.storage.append({ index: 1, bytes }, term);
  await fixture.advance(2_000);
  assert.equal(await appending, 'appended');
  fixture.leader.faults.loseLeases();
  await fixture.advance(60_000);
  assert.equal(fixture.seen.at(-1), undefined, 'no member leads');
  assert.deepEqual(applied, []);
  const { state } = standby;
  assert.ok(state.role === 'impeded');
  assert.equal(state.reason, 'OlderVersion');
  assert.match(state.message, /newer version wrote the log.* Upgrade this coordinator\.$/);
  const status = { version: '1', logFormat: LOG_FORMAT, appliedRecord: 0, state };
  const member = { id: 'b', name: 'second', server: 'https://second:1', joinedAt: 0 };
  const [row] = coordinatorObjects({ members: [{ member, status, clockSkewMs: 0 }], etcd: [], staleMs: 0 });
  assert.equal(row?.status.role, 'Impeded');
  assert.match(
    row?.status.problems[0]?.message ?? '',
    /second cannot take over\. .*Upgrade this coordinator/,
  );
  standby.stop();
  await fixture.advance(500);
  assert.equal(await ended, undefined);
});
