/** When a host confirms a successor Pod, and when it reverts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type ConfirmationFacts,
  confirmationStep,
  type LinkEvidence,
  linkEvidenceOf,
  PONG_TIMEOUT_MS,
  RECONNECT_TIMEOUT_MS,
} from '../../../agent/decisions/handovers/confirmation-step.js';

const BEGUN = 1_000_000;
const CONFIRM_MS = 300_000;
const END = BEGUN + CONFIRM_MS;

function lost(since: number, lastTry: 'answered' | 'refused' | 'unreachable'): LinkEvidence {
  return { state: 'lost', since, lastTry };
}

const silent = (heardAt: number): LinkEvidence => ({ state: 'live', heardAt });

function facts(change: Partial<ConfirmationFacts> = {}): ConfirmationFacts {
  return {
    handover: { linkWasLive: true, confirmSeconds: CONFIRM_MS / 1000 },
    startableAt: BEGUN,
    isReady: true,
    link: { state: 'live', heardAt: END },
    upSince: 0,
    suspensions: [],
    now: END,
    ...change,
  };
}

function stepOf(change: Partial<ConfirmationFacts>): string {
  const step = confirmationStep(facts(change));
  return step.kind === 'revert' ? step.reason : step.kind;
}

describe('a successor Pod on confirmation', () => {
  const dark = { linkWasLive: false, confirmSeconds: CONFIRM_MS / 1000 };
  const cases: [string, Partial<ConfirmationFacts>, string][] = [
    ['is not judged before its confirmation time', { now: END - 1, isReady: false }, 'wait'],
    [
      'is not judged while its predecessor ends, however long that takes',
      { startableAt: undefined, isReady: false, link: lost(BEGUN, 'unreachable'), now: END * 100 },
      'wait',
    ],
    [
      'has its confirmation time from the end of its predecessor',
      { startableAt: BEGUN + 30_000, isReady: false },
      'wait',
    ],
    [
      'is judged when its confirmation time has passed',
      { startableAt: BEGUN + 30_000, isReady: false, now: END + 30_000 },
      'NotReady',
    ],
    ['is confirmed when it is ready and the link is up', {}, 'confirm'],
    ['is not confirmed by a link that only looks alive', { link: silent(END - 1) }, 'wait'],
    [
      'is not confirmed by a link that was last proved alive longer ago than an answer takes',
      { link: silent(END - 1), pingedAt: END, now: END + PONG_TIMEOUT_MS },
      'wait',
    ],
    [
      'reverts when no answer arrives',
      { link: silent(BEGUN), pingedAt: END, now: END + PONG_TIMEOUT_MS },
      'LinkLost',
    ],
    [
      'asks first when the host slept past the deadline',
      { link: silent(BEGUN), now: END + CONFIRM_MS },
      'wait',
    ],
    [
      'waits for the answer from the time of waking',
      { link: silent(BEGUN), pingedAt: END + CONFIRM_MS, now: END + CONFIRM_MS + PONG_TIMEOUT_MS - 1 },
      'wait',
    ],
    [
      'reverts when no answer arrives after waking',
      { link: silent(BEGUN), pingedAt: END + CONFIRM_MS, now: END + CONFIRM_MS + PONG_TIMEOUT_MS },
      'LinkLost',
    ],
    [
      'has its waiting time extended by the time for which the agent was stalled',
      {
        link: silent(BEGUN),
        pingedAt: END,
        now: END + 60_000,
        suspensions: [{ until: END + 60_000, ms: 59_000 }],
      },
      'wait',
    ],
    [
      'reverts when no answer arrives in the extended time',
      {
        link: silent(BEGUN),
        pingedAt: END,
        now: END + 59_000 + PONG_TIMEOUT_MS,
        suspensions: [{ until: END + 59_500, ms: 59_000 }],
      },
      'LinkLost',
    ],
    [
      'is not judged for a time in which the agent was stalled',
      { isReady: false, suspensions: [{ until: END, ms: 200_000 }], now: END + 199_999 },
      'wait',
    ],
    [
      'is judged by the time in which the agent was not stalled',
      { isReady: false, suspensions: [{ until: END, ms: 200_000 }], now: END + 200_000 },
      'NotReady',
    ],
    [
      'a stall that began earlier counts only for the part within the confirmation time',
      { isReady: false, suspensions: [{ until: BEGUN + 1_000, ms: 90_000 }], now: END + 1_000 },
      'NotReady',
    ],
    [
      'asks again when it asked before the deadline was extended',
      { link: silent(BEGUN), pingedAt: END - 10_000, now: END },
      'wait',
    ],
    ['reverts when it is not ready', { isReady: false }, 'NotReady'],
    [
      'reverts when it is not ready, whether the link is up or not',
      { isReady: false, link: lost(0, 'refused') },
      'NotReady',
    ],
    ['reverts when it cut the link', { link: lost(BEGUN + 1_000, 'unreachable') }, 'LinkLost'],
    ['lets a link that broke late reconnect', { link: lost(END - 1_000, 'unreachable') }, 'wait'],
    [
      'reverts when the link does not reconnect in that time',
      { link: lost(END - 1_000, 'unreachable'), now: END - 1_000 + RECONNECT_TIMEOUT_MS },
      'LinkLost',
    ],
    [
      'is confirmed without a link when there was none before',
      { handover: dark, link: lost(0, 'unreachable') },
      'confirm',
    ],
    [
      'is kept while the coordinator answers and rejects this host',
      { link: lost(BEGUN, 'answered'), now: END * 100 },
      'wait',
    ],
    ['waits while the connection is refused', { link: lost(BEGUN, 'refused') }, 'wait'],
    [
      'reverts in the end when the connection is refused: a firewall answers the same',
      { link: lost(BEGUN, 'refused'), now: END + 2 * CONFIRM_MS },
      'LinkLost',
    ],
    [
      'has its full confirmation time after the host or the engine was down',
      { isReady: false, upSince: END - 10 },
      'wait',
    ],
    [
      'reverts when that full time has passed',
      { isReady: false, upSince: END - 10, now: END - 10 + CONFIRM_MS },
      'NotReady',
    ],
    [
      'is not judged at once when the clock was set back',
      { isReady: false, now: BEGUN - 500_000, upSince: BEGUN - 600_000 },
      'wait',
    ],
    [
      'is judged in the end when the clock was set back',
      { isReady: false, now: BEGUN - 300_000, upSince: BEGUN - 600_000 },
      'NotReady',
    ],
  ];
  for (const [name, change, expected] of cases) test(name, () => assert.equal(stepOf(change), expected));

  const anyLink: fc.Arbitrary<LinkEvidence> = fc.oneof(
    fc.record({ state: fc.constant('live' as const), heardAt: fc.integer({ min: 0, max: 5 * END }) }),
    fc.record({
      state: fc.constant('lost' as const),
      since: fc.integer({ min: 0, max: 4 * END }),
      lastTry: fc.constantFrom('answered' as const, 'refused' as const, 'unreachable' as const),
    }),
  );
  const anyFacts = fc.record({
    handover: fc.record({
      linkWasLive: fc.boolean(),
      confirmSeconds: fc.integer({ min: 1, max: 600 }),
    }),
    startableAt: fc.integer({ min: 0, max: 2 * END }),
    isReady: fc.boolean(),
    link: anyLink,
    upSince: fc.integer({ min: 0, max: 2 * END }),
    suspensions: fc.array(
      fc.record({ until: fc.integer({ min: 0, max: 5 * END }), ms: fc.integer({ min: 0, max: END }) }),
      { maxLength: 3 },
    ),
    pingedAt: fc.option(fc.integer({ min: 0, max: 5 * END }), { nil: undefined }),
    now: fc.integer({ min: 2 * END, max: 5 * END }),
  });

  test('never reverts while it is ready and the link is up, or was down before', () => {
    fc.assert(
      fc.property(anyFacts, (any) => {
        const step = confirmationStep(any);
        const isHeard = any.link.state === 'live' && any.link.heardAt >= any.now;
        const isFine = any.isReady && (isHeard || !any.handover.linkWasLive);
        if (isFine) assert.notEqual(step.kind, 'revert');
        if (step.kind === 'wait' && step.until !== undefined) assert.ok(step.until > any.now);
        if (step.kind === 'confirm') assert.ok(any.isReady);
      }),
    );
  });

  test('reverts for a silent link only after asking and waiting for the answer', () => {
    fc.assert(
      fc.property(anyFacts, (any) => {
        const step = confirmationStep(any);
        if (step.kind !== 'revert' || !any.isReady || any.link.state === 'lost') return;
        assert.ok(any.pingedAt !== undefined && any.now >= any.pingedAt + PONG_TIMEOUT_MS);
      }),
    );
  });

  test('is decided in the end, unless the coordinator rejects the host', () => {
    fc.assert(
      fc.property(anyFacts, (any) => {
        const first = confirmationStep({ ...any, now: 99 * END });
        const pingedAt = first.kind === 'wait' ? first.pingedAt : any.pingedAt;
        const step = confirmationStep({ ...any, pingedAt: pingedAt, now: 100 * END });
        const isSentAway = any.link.state === 'lost' && any.link.lastTry === 'answered';
        if (!isSentAway) assert.notEqual(step.kind, 'wait');
      }),
    );
  });
});

describe('the kind of a failed connection', () => {
  const cases: [string, ReturnType<typeof linkEvidenceOf>][] = [
    ['refused with 503: the coordinator starts', 'answered'],
    ['draining: the coordinator stops', 'answered'],
    ['superseded: another agent', 'answered'],
    ['another clusterUID', 'answered'],
    ['connect ECONNREFUSED 192.0.2.1:6443', 'refused'],
    ['the proxy http://p:3128 refused a tunnel to c.test:6443: status 503', 'answered'],
    [
      'no tunnel to c.test:6443 through the proxy http://p:3128: connect ECONNREFUSED 192.0.2.1:3128',
      'refused',
    ],
    ['no tunnel to c.test:6443 through the proxy http://p:3128: no answer in 15 s', 'unreachable'],
    ['connect ETIMEDOUT 192.0.2.1:6443', 'unreachable'],
    ['connect EHOSTUNREACH 192.0.2.1:6443', 'unreachable'],
    ['getaddrinfo EAI_AGAIN fleet.example', 'unreachable'],
    ['silence', 'unreachable'],
    ['Opening handshake has timed out', 'unreachable'],
    ['never welcomed', 'unreachable'],
  ];
  for (const [reason, evidence] of cases)
    test(reason, () => assert.equal(linkEvidenceOf([reason]), evidence));

  test('an answer of any coordinator proves that the network works, also if another was tried last', () => {
    const [answer, refusal, silence] = [
      'refused with 503: no leader',
      'connect ECONNREFUSED 192.0.2.1:6443',
      'no connection within 2 s',
    ];
    assert.equal(linkEvidenceOf([answer, silence]), 'answered');
    assert.equal(linkEvidenceOf([refusal, silence]), 'refused');
    assert.equal(linkEvidenceOf([silence, silence]), 'unreachable');
  });
});
