/** The link's states: every event in every state. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type LinkEvent,
  type LinkState,
  MAX_RECONNECT_MS,
  nextLinkState,
} from '../../../agent/link/link-state.js';

const STATES: Record<LinkState['phase'], LinkState> = {
  waiting: { phase: 'waiting', delayMs: 5, failures: 2, spreadMs: 0, notBeforeMs: 0 },
  connecting: { phase: 'connecting', failures: 2, spreadMs: 0, notBeforeMs: 0 },
  greeting: { phase: 'greeting', failures: 2, spreadMs: 0, notBeforeMs: 0 },
  live: { phase: 'live', failures: 2, spreadMs: 20_000, notBeforeMs: 0 },
  ended: { phase: 'ended', reason: 'stopped' },
};

const EVENTS: Record<string, LinkEvent> = {
  due: { kind: 'due' },
  opened: { kind: 'opened' },
  welcomed: { kind: 'welcomed', reconnectSpreadMs: 20_000 },
  settled: { kind: 'settled' },
  broken: { kind: 'broken', chance: 0.5, hasOtherAddress: false },
  'dismissed for now': {
    kind: 'dismissed',
    reason: 'draining',
    message: 'm',
    retryMs: 1_000,
    chance: 0.5,
    hasOtherAddress: false,
  },
  'dismissed for good': {
    kind: 'dismissed',
    reason: 'refused',
    message: 'm',
    retryMs: undefined,
    chance: 0,
    hasOtherAddress: false,
  },
  stopped: { kind: 'stopped' },
};

/** Phase after each event, with `.` for the same state. Columns as in STATES. */
const TABLE: Record<keyof typeof EVENTS, string> = {
  due: 'connecting . . . .',
  opened: '. greeting . . .',
  welcomed: '. . live . .',
  settled: '. . . live .',
  broken: '. waiting waiting waiting .',
  'dismissed for now': '. waiting waiting waiting .',
  'dismissed for good': '. ended ended ended .',
  stopped: 'ended ended ended ended .',
};

for (const [name, row] of Object.entries(TABLE)) {
  row.split(' ').forEach((expected, column) => {
    const state = Object.values(STATES)[column] as LinkState;
    test(`${name} in ${state.phase}: ${expected}`, () => {
      const next = nextLinkState(state, EVENTS[name] as LinkEvent);
      if (expected === '.') assert.equal(next, state);
      else assert.equal(next.phase, expected);
    });
  });
}

const broken = (state: LinkState, chance: number) =>
  nextLinkState(state, { kind: 'broken', chance, hasOtherAddress: false });

test('failures widen the jitter window up to a minute', () => {
  const windows = [0, 1, 2, 6, 7, 50, 5_000].map((failures) => {
    const next = broken({ phase: 'connecting', failures, spreadMs: 0, notBeforeMs: 0 }, 1);
    return next.phase === 'waiting' && next.delayMs;
  });
  assert.deepEqual(windows, [500, 1_000, 2_000, 32_000, 60_000, 60_000, MAX_RECONNECT_MS]);
});

test('an accepted host reconnects within seconds, however often a connection broke, and slower when it is rejected', () => {
  const live: LinkState = { phase: 'live', failures: 50, spreadMs: 0, notBeforeMs: 0 };
  const first = broken(live, 1);
  assert.deepEqual(first, { phase: 'waiting', delayMs: 8_000, failures: 5, spreadMs: 0, notBeforeMs: 0 });
  const second = broken(nextLinkState(first, { kind: 'due' }), 1);
  assert.deepEqual(second, { phase: 'waiting', delayMs: 16_000, failures: 6, spreadMs: 0, notBeforeMs: 0 });
});

test('the jitter is full', () => {
  assert.deepEqual(broken(STATES.connecting, 0), {
    phase: 'waiting',
    delayMs: 0,
    failures: 3,
    spreadMs: 0,
    notBeforeMs: 0,
  });
});

test("after a live link the window is the hub's, or the failure window if that is larger", () => {
  assert.deepEqual(broken(STATES.live, 0.5), {
    phase: 'waiting',
    delayMs: 10_000,
    failures: 3,
    spreadMs: 20_000,
    notBeforeMs: 0,
  });
  const small: LinkState = { phase: 'live', failures: 4, spreadMs: 16, notBeforeMs: 0 };
  assert.deepEqual(broken(small, 0.5), {
    phase: 'waiting',
    delayMs: 4_000,
    failures: 5,
    spreadMs: 16,
    notBeforeMs: 0,
  });
});

test('a fleet whose first attempts were refused does not reconnect all at once', () => {
  const once = broken(STATES.live, 0.5);
  const again = nextLinkState(nextLinkState(once, { kind: 'due' }), {
    kind: 'broken',
    chance: 0.5,
    hasOtherAddress: false,
  });
  assert.deepEqual(again, {
    phase: 'waiting',
    delayMs: 10_000,
    failures: 4,
    spreadMs: 20_000,
    notBeforeMs: 0,
  });
});

test('a link that was up for a while resets its failures', () => {
  const settled = nextLinkState(STATES.live, { kind: 'settled' });
  assert.deepEqual(settled, { ...STATES.live, failures: 0 });
});

test('after a goodbye the host reconnects no sooner than it asked', () => {
  const next = nextLinkState(STATES.live, EVENTS['dismissed for now'] as LinkEvent);
  assert.deepEqual(next, {
    phase: 'waiting',
    delayMs: 11_000,
    failures: 3,
    spreadMs: 20_000,
    notBeforeMs: 0,
  });
});

test('within a round of addresses the next one is tried at once, and the failures stay', () => {
  const other = { kind: 'broken', chance: 1, hasOtherAddress: true } as const;
  const waiting = { phase: 'waiting', delayMs: 0, failures: 2, spreadMs: 0, notBeforeMs: 0 };
  assert.deepEqual(nextLinkState(STATES.connecting, other), waiting);
  assert.deepEqual(nextLinkState(STATES.greeting, other), waiting);
});

test('a delay that one coordinator of the round requested holds after the whole round, and only once', () => {
  const draining = { ...EVENTS['dismissed for now'], hasOtherAddress: true } as LinkEvent;
  const next = nextLinkState(STATES.greeting, draining);
  assert.deepEqual(next, { phase: 'waiting', delayMs: 0, failures: 2, spreadMs: 0, notBeforeMs: 1_000 });
  const over = broken(nextLinkState(next, { kind: 'due' }), 0);
  assert.deepEqual(over, { phase: 'waiting', delayMs: 1_000, failures: 3, spreadMs: 0, notBeforeMs: 0 });
});
