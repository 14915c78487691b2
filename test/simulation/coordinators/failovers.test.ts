/** Histories in which one of several coordinators takes over from another, with agents and rollouts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../../harness/processes/low-priority.js';
import { after, daemonSet, outcomesNear, SECOND, setImage } from '../cases/case-builders.js';
import { withWitness } from '../cases/case-witness.js';
import { generateHistory } from '../histories/draw-history.js';
import { MIXES } from '../histories/history-mixes.js';
import { addTo, emptyEventCounts } from '../runs/event-counts.js';
import { FAILOVER_SITUATIONS } from '../runs/failover-situations.js';
import { formatFailure } from '../runs/failure-report.js';
import { runHistory } from '../runs/run-history.js';

const HISTORIES = 12;

test(`${HISTORIES} histories of failovers break no rule, and reach every situation`, async () => {
  const sum = emptyEventCounts();
  for (let number = 1; number <= HISTORIES; number++) {
    const history = generateHistory(`failovers-${number}`, MIXES.failovers);
    const outcome = await runHistory(history);
    assert.equal(outcome.violation, undefined, formatFailure(history, outcome));
    addTo(sum, outcome.tallies);
  }
  const wanted = [
    ...FAILOVER_SITUATIONS,
    'coordinator forwards a connection to the leader of term #',
    'coordinator took a snapshot',
    'coordinator exits: another coordinator leads, and etcd does not answer',
    'coordinator exits: its store failed',
  ];
  assert.deepEqual(
    wanted.filter((event) => !sum.events[event]),
    [],
  );
});

test('the same seed gives the same history of failovers', async () => {
  const history = generateHistory('failovers-2', MIXES.failovers);
  const [first, again] = [await runHistory(history), await runHistory(history)];
  assert.ok(first.lines.length > 100);
  assert.deepEqual(again.lines, first.lines);
});

test(
  'a handover that begins under one leader is stored once by the next one',
  withWitness(
    [
      /host-1 +begins its turn: (?<old>\S+) makes room for (?<new>\S+)/,
      /etcd +term \d+ begins/,
      /store +Pod <old> marked for deletion/,
      /store +Pod <new> created on host-1/,
      { absent: /begins its turn/ },
      /everyone +faults end/,
    ],
    () =>
      outcomesNear({
        ...{ seed: 'case-1', nodes: 1, coordinators: 3, speed: 1 },
        steps: [
          after(1, daemonSet('app:1')),
          after(1, {
            kind: 'set host policy',
            policy: {
              soakSeconds: 0,
              approval: 'Automatic',
              maxFailed: null,
              deadlineSeconds: 30,
              action: 'Pause',
            },
            turns: { windowSeconds: null, confirmSeconds: 60, lockSeconds: null, prePulls: false },
          }),
          after(60, { kind: 'spoil turn', node: 'host-1', by: 'cut', forMs: 30 * SECOND }),
          after(1, setImage('app:2')),
          after(5, { kind: 'coordinator fault', fault: 'power cut', who: 'leader', draw: 1 }),
          after(60, { kind: 'wait' }),
        ],
      }),
  ),
);
