/** When a host may begin a turn. */
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

describe('a turn', () => {
  const cases: [string, Partial<HandoverFacts>, string][] = [
    ['begins when nothing stands against it', {}, 'begin'],
    [
      'waits for a time of the coordinator, windows or not',
      { coordinatorTimeMs: undefined },
      'NoTrustedTime',
    ],
    ['waits for its images', { missing: [{ image: 'app:2' }] }, 'ImageNotPulled'],
    ['begins inside its window', { handover: { windows: [WINDOW] } }, 'begin'],
    [
      'begins at its first moment',
      { handover: { windows: [WINDOW] }, coordinatorTimeMs: NOW - HOUR },
      'begin',
    ],
    [
      'does not at its last',
      { handover: { windows: [WINDOW] }, coordinatorTimeMs: NOW + HOUR },
      'OutsideWindow',
    ],
    [
      'does not before',
      { handover: { windows: [WINDOW] }, coordinatorTimeMs: NOW - HOUR - 1 },
      'OutsideWindow',
    ],
    ['has no window at all', { handover: { windows: [] } }, 'OutsideWindow'],
    [
      'waits for a busy host',
      { handover: { maxLockSeconds: 60 }, updateLock: { reason: 'sale' } },
      'UpdateLocked',
    ],
    [
      'does not wait for longer than it may be held',
      { handover: { maxLockSeconds: 60 }, updateLock: { reason: 'sale' }, lockedSince: 0, now: 60_000 },
      'begin',
    ],
    ['is not held where the policy does not say so', { updateLock: { reason: 'sale' } }, 'begin'],
    [
      'is not held against the word of the centre',
      { handover: { maxLockSeconds: 60, forcedBy: 'ada: recall' }, updateLock: { reason: 'sale' } },
      'begin',
    ],
    [
      'is outside its window even if it is forced',
      {
        handover: { maxLockSeconds: 60, forcedBy: 'ada', windows: [WINDOW] },
        coordinatorTimeMs: NOW + 2 * HOUR,
      },
      'OutsideWindow',
    ],
  ];
  for (const [name, change, reason] of cases) test(name, () => assert.equal(reasonOf(change), reason));

  test('says when its window opens, and looks again then', () => {
    const step = handoverStep(facts({ handover: { windows: [WINDOW] }, coordinatorTimeMs: NOW - 3 * HOUR }));
    assert.deepEqual(step, {
      kind: 'wait',
      reason: 'OutsideWindow',
      message: 'its window opens at 2026-03-01T02:00:00.000Z',
      againMs: 2 * HOUR,
    });
  });

  test('that goes on against the host says whom it overrode, and by whose word', () => {
    const turn = { maxLockSeconds: 60, forcedBy: 'ada: recall' };
    const step = handoverStep(facts({ handover: turn, updateLock: { reason: 'sale' } }));
    assert.deepEqual(step, { kind: 'begin', overridden: 'sale; overridden by ada: recall' });
  });

  test('never begins outside of all its windows, without a trusted time or an image', () => {
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

describe("a host's 'not now'", () => {
  test('is a file, whatever stands in it', () => {
    assert.deepEqual(updateLockInFile('', 0), { reason: 'locked on the host' });
    assert.deepEqual(updateLockInFile('  a sale\nand more', 0), { reason: 'a sale' });
  });

  test('ends by itself when it says when', () => {
    const until = Date.parse('2026-03-01T03:00:00Z');
    const text = 'until: 2026-03-01T03:00:00Z\na sale\n';
    assert.deepEqual(updateLockInFile(text, until - 1), { reason: 'a sale', until });
    assert.equal(updateLockInFile(text, until), undefined);
    assert.deepEqual(updateLockInFile('a sale\nuntil: tomorrow', until), { reason: 'a sale' });
  });

  test('is any answer but none, ok and go', () => {
    for (const go of ['', '\n', 'ok\n', 'GO']) assert.equal(updateLockInAnswer(go, 0), undefined, go);
    assert.deepEqual(updateLockInAnswer('the arm moves\n', 0), { reason: 'the arm moves' });
  });
});
