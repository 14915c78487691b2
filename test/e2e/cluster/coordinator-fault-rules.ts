/**
 * Three coordinators on machines of their own, with a rollout in progress, continuous writes, a watch and hosts: each
 * test injects one kind of fault. `npm test` has the first rules and `npm run extended` the further ones.
 * `npm run chaos -- --coordinators 3` draws faults and combines them.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { CoordinatorFault } from '../../chaos/coordinators/coordinator-plan.js';
import { CoordinatorRounds } from '../../chaos/coordinators/coordinator-rounds.js';
import { fakeTimeLibrary } from '../../chaos/libfaketime-clock.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';

const PATIENCE_MS = 120_000;
/** The rollout begins first. */
const atMs = 300;
/** Longer than the lease of the leader, so that another coordinator leads. */
const LONG_MS = 7_000;
const SHORT_MS = 2_000;

type Rule = readonly [rule: string, ...faults: CoordinatorFault[]];

/** Rules with the faults that must not break them, one for each way to lose a leader. */
export const FIRST_RULES: readonly Rule[] = [
  [
    'a leader and the leader of etcd that are paused on one machine are replaced',
    { kind: 'pause machine', atMs, forMs: LONG_MS },
  ],
  [
    'without two of three members of etcd writes are refused, reads continue, and writes return by themselves',
    { kind: 'lose quorum', atMs, forMs: LONG_MS },
  ],
  [
    'a machine of which no packet leaves is replaced, and follows again after the partition',
    { kind: 'cut machine', cut: 'requests', atMs, forMs: LONG_MS },
  ],
  [
    'an upgrade of all coordinators in the middle of a rollout repeats and skips no step of it',
    { kind: 'restart all', atMs, forMs: SHORT_MS },
  ],
];

/** The other rules. */
export const FURTHER_RULES: readonly Rule[] = [
  [
    'a machine with the leader and the leader of etcd that dies is replaced',
    { kind: 'kill machine', atMs, forMs: LONG_MS },
  ],
  [
    'a leader of etcd and a standby that are killed cost a pause of writes only',
    { kind: 'kill etcd', atMs, forMs: SHORT_MS },
    { kind: 'kill coordinator', of: 'standby', atMs, forMs: SHORT_MS },
  ],
  [
    'a leader that receives no answers of etcd is replaced, and loses no write of unknown outcome',
    { kind: 'cut from etcd', cut: 'answers', atMs, forMs: LONG_MS },
  ],
  [
    'a leader that no host reaches keeps its hosts',
    { kind: 'cut from hosts', cut: 'answers', atMs, forMs: LONG_MS },
  ],
  [
    'coordinators that cannot reach their leader forward again after the partition',
    { kind: 'cut from coordinators', cut: 'both', atMs, forMs: LONG_MS },
  ],
  [
    'a leader with a full disk is replaced, and follows again once there is space',
    { kind: 'fill disk', of: 'leader', atMs, forMs: LONG_MS },
  ],
  [
    'while etcd has no space writes are refused and reads continue, until the alarm is disarmed',
    { kind: 'fill etcd', atMs, forMs: SHORT_MS },
  ],
  [
    'a member of which the disk is lost joins again',
    { kind: 'wipe member', of: 'standby', atMs, forMs: SHORT_MS },
  ],
  [
    'a standby that was away while the log was trimmed takes a snapshot',
    { kind: 'trim log', atMs, forMs: SHORT_MS },
  ],
  [
    'clocks of the leader and of a standby that are set back and ahead change nothing',
    { kind: 'step clock', of: 'leader', seconds: -3_600, atMs, forMs: SHORT_MS },
    { kind: 'step clock', of: 'standby', seconds: 72_000, atMs, forMs: SHORT_MS },
  ],
];

/** Defines a test for each rule. `which` names the group of rules. */
export function coordinatorFaults(which: string, rules: readonly Rule[]): void {
  describe(`faults of coordinators during a rollout, ${which}`, { concurrency: 1 }, () => {
    let rounds: CoordinatorRounds | string;

    before(async () => {
      rounds = await CoordinatorRounds.open('e2e', 2);
    });
    after(async () => {
      if (typeof rounds !== 'string') await rounds.close();
    });

    for (const [rule, ...faults] of rules)
      test(rule, async (context) => {
        if (typeof rounds === 'string') return leaveOut(context, 'faults of coordinators', rounds);
        if (faults.some(({ kind }) => kind === 'step clock') && !fakeTimeLibrary())
          return leaveOut(context, 'clocks of coordinators', 'needs faketime (see .ci/packages)');
        const { violations, notes, writes } = await rounds.play(faults, PATIENCE_MS);
        assert.deepEqual(violations, [], rounds.lastLogLines());
        // A fault that could not be injected leaves a note.
        assert.deepEqual(notes, []);
        assert.ok(writes > 0);
      });
  });
}
