/** When a host starts a Pod of a DaemonJob: its start time, deadline, windows and other runs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type DelayingLock,
  type SeriesPod,
  type StartFacts,
  startGate,
} from '../../../agent/decisions/pods/start-gate.js';
import type { RunSeries } from '../../../shared/kube/daemonjobs/daemonjob-start.js';

const AT = '2026-03-01T03:00:00Z';
const at = Date.parse(AT);
const MINUTE = 60_000;

function gate(changes: Partial<StartFacts>): string {
  const step = startGate({
    ...{ rules: { at: AT }, wallMs: at, coordinatorMs: undefined, others: [], lock: undefined, now: at },
    ...changes,
  });
  if (step.kind === 'wait') return `wait ${step.againMs} ${step.replaces.join()}${step.message}`;
  return step.kind === 'missed' ? `${step.rejection.reason}: ${step.rejection.message}` : step.kind;
}

describe('the start of a Pod of a DaemonJob', () => {
  const rows: [rule: string, changes: Partial<StartFacts>, expected: string][] = [
    ['waits for its time', { wallMs: at - 5_000 }, `wait 5000 starts at ${AT}`],
    ['checks a far time again, so that a clock step is noticed', { wallMs: 0 }, `wait 30000 starts at ${AT}`],
    ['starts at its time', {}, 'open'],
    ['starts late without a deadline', { wallMs: at + 900 * MINUTE }, 'open'],
    [
      'starts late before its deadline',
      { rules: { at: AT, before: '2026-03-01T03:10:00Z' }, wallMs: at + 9 * MINUTE },
      'open',
    ],
    [
      'is missed at its deadline',
      { rules: { at: AT, before: '2026-03-01T03:10:00Z' }, wallMs: at + 10 * MINUTE },
      `MissSchedule: Missed scheduled time to start a job: ${AT}`,
    ],
    ['starts at once without rules', { rules: {}, wallMs: 0 }, 'open'],
  ];
  for (const [rule, changes, expected] of rows) test(rule, () => assert.equal(gate(changes), expected));
});

describe('the windows of a Pod of a DaemonJob', () => {
  const windows = [{ from: '2026-03-01T22:00:00Z', until: '2026-03-01T23:00:00Z' }];
  const rows: [rule: string, coordinatorMs: number | undefined, expected: string][] = [
    ['start nothing before they open', at, 'wait 30000 its window opens at 2026-03-01T22:00:00.000Z'],
    ['start the Pod while they are open', Date.parse('2026-03-01T22:30:00Z'), 'open'],
    [
      'start nothing after the last one',
      Date.parse('2026-03-01T23:00:00Z'),
      'wait 30000 all its windows are over: the coordinator has to send others',
    ],
    [
      "start nothing by the host's own clock",
      undefined,
      'wait 30000 the host has not received the time from the coordinator since it booted',
    ],
  ];
  for (const [rule, coordinatorMs, expected] of rows)
    test(rule, () => assert.equal(gate({ rules: { windows }, coordinatorMs }), expected));
});

describe('an update lock on the host', () => {
  const lock: DelayingLock = { reason: 'drawer open', since: at - MINUTE };
  const start = (changes: Partial<StartFacts>) =>
    startGate({
      ...{ rules: { maxLockSeconds: 3600 }, wallMs: at, coordinatorMs: undefined, others: [], lock, now: at },
      ...changes,
    });
  const open = { kind: 'open', pullsFirst: true };
  const rows: [rule: string, changes: Partial<StartFacts>, expected: object][] = [
    [
      'delays the start with the reason of a handover',
      {},
      { kind: 'wait', reason: 'UpdateLocked', message: 'drawer open', againMs: 2_000, replaces: [] },
    ],
    ['delays nothing without updateLock in the policy', { rules: {} }, { kind: 'open' }],
    ['delays nothing once it is released', { lock: undefined }, open],
    [
      'delays the start no longer than maxSeconds',
      { rules: { maxLockSeconds: 60 } },
      { ...open, overridden: 'drawer open; locked for longer than 60 s' },
    ],
    [
      'delays nothing once an operator overrides it',
      { rules: { maxLockSeconds: 3600, forcedBy: 'ann: urgent' } },
      { ...open, overridden: 'drawer open; overridden by ann: urgent' },
    ],
    [
      'does not hide that the Pod waits for its time',
      { rules: { at: AT, maxLockSeconds: 3600 }, wallMs: at - 5_000 },
      { kind: 'wait', reason: 'WaitsForStart', message: `starts at ${AT}`, againMs: 5_000, replaces: [] },
    ],
  ];
  for (const [rule, changes, expected] of rows) test(rule, () => assert.deepEqual(start(changes), expected));

  test('does not keep the host from reporting that it missed the deadline', () => {
    const step = start({ rules: { at: AT, before: AT, maxLockSeconds: 3600 } });
    assert.equal(step.kind, 'missed');
  });
});

describe('two runs of a CronDaemonJob on one host', () => {
  const other = (state: SeriesPod['state'], dueMs = at - MINUTE): SeriesPod[] => [
    { uid: 'o', at: dueMs, state },
  ];
  const rows: [rule: string, concurrency: RunSeries['concurrency'], others: SeriesPod[], expected: string][] =
    [
      ['Allow starts both', 'Allow', other('running'), 'open'],
      [
        'Forbid waits for the end of the earlier one',
        'Forbid',
        other('running'),
        'wait 1000 an earlier run has not ended',
      ],
      ['Allow starts next to a run that the agent has not inspected', 'Allow', other('uninspected'), 'open'],
      [
        'Forbid waits for the inspection of another run',
        'Forbid',
        other('uninspected'),
        'wait 1000 the agent has not inspected another run since its start',
      ],
      [
        'Replace ends no run before all are inspected',
        'Replace',
        [...other('running'), ...other('uninspected')],
        'wait 1000 the agent has not inspected another run since its start',
      ],
      [
        'Replace does not yield to a later run before all are inspected',
        'Replace',
        [...other('running', at + MINUTE), ...other('uninspected')],
        'wait 1000 the agent has not inspected another run since its start',
      ],
      ['Forbid ignores a run that has not started', 'Forbid', other('waiting'), 'open'],
      [
        'Replace ends the earlier one',
        'Replace',
        other('running'),
        'wait 1000 othe run that it replaces has not ended',
      ],
      [
        'Replace waits for its end',
        'Replace',
        other('ending'),
        'wait 1000 the run that it replaces has not ended',
      ],
      [
        'Replace never ends a later one',
        'Replace',
        other('running', at + MINUTE),
        'Replaced: a later run has started',
      ],
    ];
  for (const [rule, concurrency, others, expected] of rows)
    test(rule, () =>
      assert.equal(gate({ rules: { at: AT, series: { uid: 's', concurrency } }, others }), expected),
    );

  test('a run that waits for an earlier one is missed at its deadline', () => {
    const rules = { at: AT, before: AT, series: { uid: 's', concurrency: 'Forbid' as const } };
    assert.match(gate({ rules, others: other('running') }), /^MissSchedule/);
  });
});
