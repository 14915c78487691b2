/** Conditions for the start of a handover on a host. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type HandoverFacts, handoverStep } from '../../../agent/decisions/handovers/handover-step.js';
import { updateLockInAnswer, updateLockInFile } from '../../../agent/decisions/handovers/update-lock-text.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-03-01T03:00:00Z');
const WINDOW = { from: '2026-03-01T02:00:00Z', until: '2026-03-01T04:00:00Z' };

function facts(change: Partial<HandoverFacts> = {}): HandoverFacts {
  return {
    handover: {},
    coordinatorTimeMs: NOW,
    missing: [],
    updateLock: undefined,
    lockedSince: undefined,
    now: 0,
    ...change,
  };
}

function reasonOf(change: Partial<HandoverFacts>): string {
  const step = handoverStep(facts(change));
  return step.kind === 'begin' ? 'begin' : step.reason;
}

describe('a handover', () => {
  const cases: [string, Partial<HandoverFacts>, string][] = [
    ['starts when no condition prevents it', {}, 'begin'],
    [
      'waits for a time of the coordinator, with windows or without',
      { coordinatorTimeMs: undefined },
      'NoTrustedTime',
    ],
    ['waits for its images', { missing: [{ image: 'app:2' }] }, 'ImageNotPulled'],
    ['starts inside its window', { handover: { windows: [WINDOW] } }, 'begin'],
    [
      'starts at the first instant of its window',
      { handover: { windows: [WINDOW] }, coordinatorTimeMs: NOW - HOUR },
      'begin',
    ],
    [
      'does not start at the last instant of its window',
      { handover: { windows: [WINDOW] }, coordinatorTimeMs: NOW + HOUR },
      'OutsideWindow',
    ],
    [
      'does not start before its window',
      { handover: { windows: [WINDOW] }, coordinatorTimeMs: NOW - HOUR - 1 },
      'OutsideWindow',
    ],
    ['without any window does not start', { handover: { windows: [] } }, 'OutsideWindow'],
    [
      'waits for a busy host',
      { handover: { maxLockSeconds: 60 }, updateLock: { reason: 'sale' } },
      'UpdateLocked',
    ],
    [
      'does not wait beyond the longest update lock',
      { handover: { maxLockSeconds: 60 }, updateLock: { reason: 'sale' }, lockedSince: 0, now: 60_000 },
      'begin',
    ],
    [
      'ignores an update lock where the policy does not allow one',
      { updateLock: { reason: 'sale' } },
      'begin',
    ],
    [
      'ignores an update lock when an operator overrides it',
      { handover: { maxLockSeconds: 60, forcedBy: 'ada: recall' }, updateLock: { reason: 'sale' } },
      'begin',
    ],
    [
      'stays outside its window even if it is forced',
      {
        handover: { maxLockSeconds: 60, forcedBy: 'ada', windows: [WINDOW] },
        coordinatorTimeMs: NOW + 2 * HOUR,
      },
      'OutsideWindow',
    ],
  ];
  for (const [name, change, reason] of cases) test(name, () => assert.equal(reasonOf(change), reason));

  test('reports when its window opens, and is reconciled then', () => {
    const step = handoverStep(facts({ handover: { windows: [WINDOW] }, coordinatorTimeMs: NOW - 3 * HOUR }));
    assert.deepEqual(step, {
      kind: 'wait',
      reason: 'OutsideWindow',
      message: 'its window opens at 2026-03-01T02:00:00.000Z',
      againMs: 2 * HOUR,
    });
  });

  test('that overrides the host reports who requested it', () => {
    const turn = { maxLockSeconds: 60, forcedBy: 'ada: recall' };
    const step = handoverStep(facts({ handover: turn, updateLock: { reason: 'sale' } }));
    assert.deepEqual(step, { kind: 'begin', overridden: 'sale; overridden by ada: recall' });
  });

  test('never starts outside all its windows, without a trusted time or without an image', () => {
    const time = fc.integer({ min: 0, max: 100 });
    const window = fc.record({ from: time, length: time });
    const at = (hours: number) => new Date(NOW + hours * HOUR).toISOString();
    const any = fc.record({
      windows: fc.array(window, { maxLength: 4 }),
      hubTime: fc.option(time, { nil: undefined }),
      isMissing: fc.boolean(),
      hold: fc.option(fc.constant({ reason: 'sale' }), { nil: undefined }),
      forced: fc.boolean(),
    });
    fc.assert(
      fc.property(any, ({ windows, hubTime, isMissing, hold, forced }) => {
        const step = handoverStep(
          facts({
            handover: {
              windows: windows.map(({ from, length }) => ({ from: at(from), until: at(from + length) })),
              maxLockSeconds: 10,
              ...(forced && { forcedBy: 'ada' }),
            },
            coordinatorTimeMs: hubTime === undefined ? undefined : NOW + hubTime * HOUR,
            missing: isMissing ? [{ image: 'app:2' }] : [],
            updateLock: hold,
          }),
        );
        const isOpen =
          hubTime !== undefined &&
          windows.some(({ from, length }) => from <= hubTime && hubTime < from + length);
        assert.equal(step.kind === 'begin', isOpen && !isMissing && (!hold || forced));
        if (step.kind === 'wait' && step.againMs !== undefined) assert.ok(step.againMs > 0);
      }),
    );
  });
});

describe('the update lock of a host', () => {
  test('is a file, whatever its content', () => {
    assert.deepEqual(updateLockInFile('', 0), { reason: 'locked on the host' });
    assert.deepEqual(updateLockInFile('  a sale\nand more', 0), { reason: 'a sale' });
  });

  test('expires at the time in its content', () => {
    const until = Date.parse('2026-03-01T03:00:00Z');
    const text = 'until: 2026-03-01T03:00:00Z\na sale\n';
    assert.deepEqual(updateLockInFile(text, until - 1), { reason: 'a sale', until });
    assert.equal(updateLockInFile(text, until), undefined);
    assert.deepEqual(updateLockInFile('a sale\nuntil: tomorrow', until), { reason: 'a sale' });
  });

  test('is any response except an empty one, ok and go', () => {
    for (const go of ['', '\n', 'ok\n', 'GO']) assert.equal(updateLockInAnswer(go, 0), undefined, go);
    assert.deepEqual(updateLockInAnswer('the arm moves\n', 0), { reason: 'the arm moves' });
  });
});
