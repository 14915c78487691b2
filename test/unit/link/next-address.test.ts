/** Which coordinator's address an agent tries next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOrder, nextAddress } from '../../../agent/decisions/link/next-address.js';
import { readCoordinatorAddress, validCoordinatorAddresses } from '../../../shared/link/coordinator-list.js';
import { encodeMessage, SharedMessage } from '../../../shared/link/encoding/frame-codec.js';
import type { CoordinatorsChange } from '../../../shared/link/messages/link-messages.js';

const [A, B, C] = ['https://a:7443', 'https://b:7443', 'https://c:7443'] as const;
const LIMIT = 2_000;

type Row = [
  what: string,
  round: { learnt?: string[]; configured: string[]; lastGood?: string; failed?: string[] },
  expected: string,
];

const ROWS: Row[] = [
  ['a single address has no limit of its own', { configured: [A] }, `${A}`],
  ['a single address that failed', { configured: [A], failed: [A] }, 'wait'],
  ['the first of several', { configured: [A, B] }, `${A} ${LIMIT}`],
  ['the last of a round', { configured: [A, B], failed: [A] }, `${B}`],
  ['a whole round failed', { configured: [A, B], failed: [B, A] }, 'wait'],
  ['the last good address is the first', { configured: [A, B], lastGood: B }, `${B} ${LIMIT}`],
  [
    'after the last good one the others in order',
    { configured: [A, B, C], lastGood: B, failed: [B] },
    `${A} ${LIMIT}`,
  ],
  ['the leader before the settings', { learnt: [B], configured: [A] }, `${B} ${LIMIT}`],
  ['the same address in both lists is tried once', { learnt: [A], configured: [A], failed: [A] }, 'wait'],
  ['the settings after the learnt list', { learnt: [B, C], configured: [A], failed: [B, C] }, `${A}`],
  [
    'a last good address that was removed from the fleet',
    { learnt: [B], configured: [B], lastGood: A },
    `${B}`,
  ],
  ['an address that failed and left the lists', { configured: [A], failed: [C] }, `${A}`],
];

for (const [what, { learnt = [], failed = [], ...round }, expected] of ROWS)
  test(`next address: ${what}`, () => {
    const step = nextAddress({ learnt, ...round, failed: new Set(failed), failedRounds: 0 });
    const text =
      step.kind === 'wait' ? 'wait' : [step.address, step.connectTimeoutMs].filter(Boolean).join(' ');
    assert.equal(text, expected);
  });

test('the time for the TLS connection doubles after each failed round, and is then unlimited', () => {
  const limits = [0, 1, 2, 9].map((failedRounds) => {
    const step = nextAddress({ learnt: [], configured: [A, B], failed: new Set(), failedRounds });
    return step.kind === 'connect' ? step.handshakeTimeoutMs : 'wait';
  });
  assert.deepEqual(limits, [4_000, 8_000, undefined, undefined]);
  const last = nextAddress({ learnt: [], configured: [A, B], failed: new Set([A]), failedRounds: 0 });
  assert.deepEqual(last, { kind: 'connect', address: B });
});

test('a round tries each address once, in the same order', () => {
  const round = { learnt: [C, B], configured: [A, B], lastGood: A, failedRounds: 0 };
  const failed = new Set<string>();
  const tried: string[] = [];
  for (
    let step = nextAddress({ ...round, failed });
    step.kind === 'connect';
    step = nextAddress({ ...round, failed })
  ) {
    tried.push(step.address);
    failed.add(step.address);
  }
  assert.deepEqual(tried, [A, C, B]);
  assert.deepEqual(addressOrder(round), tried);
});

const ADDRESSES: [text: unknown, expected: string | undefined][] = [
  ['https://host:7443', 'https://host:7443'],
  ['https://HOST:7443/', 'https://host:7443'],
  ['https://host:443', 'https://host'],
  ['https://[2001:db8::1]:7443', 'https://[2001:db8::1]:7443'],
  ['http://host:7443', undefined],
  ['wss://host:7443', undefined],
  ['https://user:secret@host:7443', undefined],
  ['host:7443', undefined],
  ['', undefined],
  [7443, undefined],
  [null, undefined],
  [`https://${'h'.repeat(300)}`, undefined],
];

for (const [text, expected] of ADDRESSES)
  test(`address ${String(text).slice(0, 40)}: ${expected ?? 'refused'}`, () =>
    assert.equal(readCoordinatorAddress(text), expected));

test('a list keeps its order, without duplicates and bad addresses, up to 16', () => {
  assert.deepEqual(validCoordinatorAddresses([B, 'http://x', A, `${B}/`, 3]), [B, A]);
  const many = Array.from({ length: 40 }, (_, number) => `https://n${number}:7443`);
  assert.deepEqual(validCoordinatorAddresses(many), many.slice(0, 16));
});

test('a message for many hosts is encoded once in each form, like a message for one', () => {
  const message: CoordinatorsChange = {
    kind: 'coordinators',
    coordinators: Array.from({ length: 9 }, (_, number) => `https://coordinator-${number}.example:7443`),
  };
  const shared = new SharedMessage(message);
  for (const compress of [false, true]) {
    assert.deepEqual(shared.frame(compress), encodeMessage(message, { compress }));
    assert.equal(shared.frame(compress), shared.frame(compress));
  }
  assert.ok(shared.frame(true).length < shared.frame(false).length);
});
