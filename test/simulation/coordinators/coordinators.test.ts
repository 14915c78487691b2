/** Histories of several coordinators over a simulated etcd, their determinism, and faults in the product that they must find. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import { ChangeLog } from '../../../coordinator/store/log/change-log.js';
import { GroupCommit } from '../../../coordinator/store/log/group-commit.js';
import { LeaderLog } from '../../../coordinator/store/replica/leader-log.js';
import { LogFollower } from '../../../coordinator/store/replica/log-follower.js';
import { MemoryEngine } from '../../harness/replica/memory-engine.js';
import { breakDuring } from '../sabotage/break-during.js';
import { MemberDisk } from './member-disk.js';
import { runCoordinators } from './run-coordinators.js';

/** All events are reached by them. `npm run extended` continues with the next numbers. */
const HISTORIES = 12;

/** Runs histories until one breaks a rule. Returns the violation. */
async function firstBroken(count: number): Promise<string> {
  for (let number = 1; number <= count; number++) {
    const { violation } = await runCoordinators(`coordinators-${number}`);
    if (violation) return violation;
  }
  return '';
}

test(`${HISTORIES} histories of three coordinators break no rule, and reach all their events`, async () => {
  const reached = new Set<string>();
  for (let number = 1; number <= HISTORIES; number++) {
    const { violation, lines, counts } = await runCoordinators(`coordinators-${number}`);
    const last = lines.filter((line) => !/: (write|watch) /.test(line)).slice(-40);
    assert.equal(violation, undefined, `coordinators-${number}: ${violation}\n${last.join('\n')}`);
    for (const event of counts.keys()) reached.add(event);
  }
  const wanted = ['took a snapshot', 'watch expired', 'write refused: unknown', 'exits: its store failed'];
  for (const event of wanted) assert.ok(reached.has(event), `no history reached "${event}"`);
});

test('five coordinators break no rule', async () => {
  for (let number = 1; number <= 2; number++) {
    const { violation } = await runCoordinators(`five-${number}`, 5);
    assert.equal(violation, undefined, `five-${number}`);
  }
});

test('the same seed gives the same history of several coordinators', async () => {
  const [first, again] = [await runCoordinators('same'), await runCoordinators('same')];
  assert.ok(first.lines.length > 100);
  assert.deepEqual(again.lines, first.lines);
});

describe('histories of several coordinators find a fault in the product', () => {
  test('a leader that answers before etcd has the entry loses acknowledged writes', async () => {
    const { append } = LeaderLog.prototype;
    const early: LeaderLog['append'] = function (this: LeaderLog, operation) {
      append.call(this, operation).catch(() => undefined);
      return Promise.resolve();
    };
    await breakDuring(LeaderLog.prototype, { append: early }, async () => {
      assert.match(await firstBroken(5), /an acknowledged write is lost/);
    });
  });

  test('an engine that does not compare the term stores entries of a term that has ended', async () => {
    const { apply } = MemoryEngine.prototype;
    const lenient = function (this: MemoryEngine, method: never, request: { compare?: unknown[] }) {
      const isAppend = request.compare?.length === 2;
      return apply.call(
        this,
        method,
        (isAppend ? { ...request, compare: request.compare?.slice(1) } : request) as never,
      );
    } as MemoryEngine['apply'];
    await breakDuring(MemoryEngine.prototype, { apply: lenient }, async () => {
      assert.match(await firstBroken(20), /was stored while term/);
    });
  });

  test('a database that applies entries after a failed one differs from the others', async () => {
    await breakDuring(MemberDisk.prototype, { stopsAfterFailure: () => false }, async () => {
      assert.match(await firstBroken(30), /the databases differ at record/);
    });
  });

  test('a log of changes that skips a change breaks the rule of watches', async () => {
    const { after } = ChangeLog.prototype;
    const hasty: ChangeLog['after'] = function (this: ChangeLog, revision, limit) {
      const changes = after.call(this, revision, limit);
      return changes.length > 3 ? changes.slice(1) : changes;
    };
    await breakDuring(ChangeLog.prototype, { after: hasty }, async () => {
      assert.match(await firstBroken(5), /a watch saw revision/);
    });
  });

  test('a stalled commit that is reported as not written breaks the rule of refused writes', async () => {
    const { stall } = GroupCommit.prototype;
    const wrong: GroupCommit['stall'] = function (this: GroupCommit, unavailable) {
      stall.call(this, unavailable, unavailable);
    };
    await breakDuring(GroupCommit.prototype, { stall: wrong }, async () => {
      assert.match(await firstBroken(5), /a write that was refused \(unavailable\) took effect/);
    });
  });

  test('a follower that does not read the log leaves the fleet without a leader', async () => {
    await breakDuring(LogFollower.prototype, { catchUp: async () => undefined }, async () => {
      assert.match(await firstBroken(1), /no rest when faults have ended|differ/);
    });
  });
});
