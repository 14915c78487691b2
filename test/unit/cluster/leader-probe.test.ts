/** When a follower reports that it cannot connect to the leader. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeaderProbe } from '../../../coordinator/cluster/standby/leader-probe.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const A = 'https://a:6443';
const B = 'https://b:6443';

interface Step {
  /** ms after the step before. */
  after: number;
  leader?: string;
  answers: boolean;
  trouble?: string;
}

const CASES: [string, Step[]][] = [
  ['a leader that answers', [{ after: 0, leader: A, answers: true }]],
  [
    'a leader that starts',
    [
      { after: 0, leader: A, answers: false },
      { after: 9_999, leader: A, answers: false },
    ],
  ],
  [
    'a leader that has not answered for 10 s',
    [
      { after: 0, leader: A, answers: false },
      { after: 10_000, leader: A, answers: false, trouble: A },
      { after: 5_000, leader: A, answers: true },
      { after: 5_000, leader: A, answers: false },
    ],
  ],
  [
    'the time of another leader does not count',
    [
      { after: 0, leader: A, answers: false },
      { after: 9_000, leader: B, answers: false },
      { after: 9_000, leader: B, answers: false },
      { after: 1_000, leader: B, answers: false, trouble: B },
    ],
  ],
  [
    'no leader is known in between',
    [
      { after: 0, leader: A, answers: false },
      { after: 9_000, answers: false },
      { after: 9_000, leader: A, answers: false },
    ],
  ],
];

for (const [name, steps] of CASES) {
  test(`trouble with the leader: ${name}`, async () => {
    const clock = new ManualClock();
    let step: Step = { after: 0, answers: true };
    const probe = new LeaderProbe({
      server: () => step.leader,
      connect: async () => {
        if (!step.answers) throw new Error('connection refused');
      },
      clock,
    });
    for (const next of steps) {
      clock.advance(next.after);
      step = next;
      const expected = next.trouble && { server: next.trouble, error: 'connection refused' };
      assert.deepEqual(await probe.trouble(), expected);
    }
  });
}
