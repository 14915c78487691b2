/** The exchange by which a coordinator proves its token and receives the keys. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { parseCoordinatorToken } from '../../../coordinator/cluster/join/coordinator-tokens.js';
import {
  answerJoin,
  beginJoin,
  type CoordinatorJoinRequest,
  joinObstacle,
  readJoinRequest,
  tokenKeyOf,
} from '../../../coordinator/cluster/join/join-exchange.js';
import { SealError } from '../../../coordinator/cluster/keys/sealed-value.js';
import { snapshotProof, verifySnapshotProof } from '../../../coordinator/cluster/snapshot/snapshot-proof.js';

const SECRET = 'a'.repeat(32);
const KEY = tokenKeyOf(SECRET);
const NOW = 1_800_000_000_000;
const MEMBER = {
  ...{ id: '0a1b2c3d', name: 'second', server: 'https://second:6443' },
  ...{ version: '1.0.0', logFormat: 1, clockMs: NOW },
};
const PACKED = Buffer.from('the keys');

function begin() {
  return beginJoin({ id: 'abc123', secret: SECRET }, 'fleet', MEMBER);
}

test('the holder of the token gets the keys, and neither side sends the secret', () => {
  const attempt = begin();
  const request = readJoinRequest(JSON.parse(JSON.stringify(attempt.request)));
  assert.ok(request);
  const answer = answerJoin(KEY, request, PACKED);
  assert.equal(attempt.open(JSON.parse(JSON.stringify(answer))).toString(), 'the keys');
  const sent = JSON.stringify([request, answer]);
  assert.equal(sent.includes(SECRET) || sent.includes(KEY.toString('base64')), false);
  assert.equal(sent.includes(PACKED.toString('base64')), false);
});

const x25519 = () =>
  generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

const FORGED: [string, (request: CoordinatorJoinRequest) => CoordinatorJoinRequest][] = [
  ['another public key', (request) => ({ ...request, publicKey: x25519() })],
  ['another fleet', (request) => ({ ...request, clusterUID: 'other' })],
  ['another token id', (request) => ({ ...request, tokenId: 'zzz999' })],
  ['another member', (request) => ({ ...request, member: { ...MEMBER, id: 'ffffffff' } })],
  ['another address', (request) => ({ ...request, member: { ...MEMBER, server: 'https://evil:1' } })],
  ['another version', (request) => ({ ...request, member: { ...MEMBER, version: '2.0.0' } })],
  ['another log format', (request) => ({ ...request, member: { ...MEMBER, logFormat: 9 } })],
  ['another time', (request) => ({ ...request, member: { ...MEMBER, clockMs: 0 } })],
  ['an empty proof', (request) => ({ ...request, proof: '' })],
];

for (const [what, forge] of FORGED) {
  test(`a request that was changed to ${what} gets no keys`, () => {
    assert.equal(answerJoin(KEY, forge(begin().request), PACKED), undefined);
  });
}

test('a request with another secret gets no keys', () => {
  assert.equal(answerJoin(tokenKeyOf('b'.repeat(32)), begin().request, PACKED), undefined);
});

test('a proved request with a public key that is none gets no keys', () => {
  // The proof is right, as of a holder of the token that sends nonsense.
  for (const publicKey of ['AAAA', '']) {
    const attempt = begin();
    assert.equal(answerJoin(KEY, { ...attempt.request, publicKey }, PACKED), undefined);
  }
});

test('an answer that was not made with the token is refused', () => {
  const attempt = begin();
  const other = beginJoin({ id: 'abc123', secret: SECRET }, 'fleet', MEMBER);
  const answer = answerJoin(KEY, attempt.request, PACKED);
  assert.ok(answer);
  for (const bad of [{}, undefined, 'x', { ...answer, keys: 'AAAA' }, { ...answer, publicKey: x25519() }]) {
    assert.throws(() => attempt.open(bad), SealError);
  }
  assert.throws(() => other.open(answer), SealError);
});

const BODIES: [string, unknown][] = [
  ['nothing', undefined],
  ['a list', []],
  ['no member', { ...begin().request, member: undefined }],
  ['a member id that is a path', { ...begin().request, member: { ...MEMBER, id: '../../x' } }],
  ['an address that is no URL', { ...begin().request, member: { ...MEMBER, server: 'second' } }],
  ['a long name', { ...begin().request, member: { ...MEMBER, name: 'x'.repeat(300) } }],
  ['no log format', { ...begin().request, member: { ...MEMBER, logFormat: undefined } }],
  ['a time that is text', { ...begin().request, member: { ...MEMBER, clockMs: 'now' } }],
  ['a proof that is no text', { ...begin().request, proof: 7 }],
];

for (const [what, body] of BODIES) {
  test(`a body with ${what} is no request to join`, () => assert.equal(readJoinRequest(body), undefined));
}

const OBSTACLES: [string, Partial<typeof MEMBER>, RegExp | undefined][] = [
  ['the same version', {}, undefined],
  ['a newer version', { logFormat: 3 }, undefined],
  [
    'an older log format',
    { logFormat: 1 },
    /version 1\.0\.0 and reads format 1 .* version 1\.1\.0 and writes format 2/,
  ],
  ['a clock that is 5 minutes ahead', { clockMs: NOW + 300_000 }, undefined],
  ['a clock that is 6 minutes ahead', { clockMs: NOW + 360_000 }, /6 minutes ahead of the leader's/],
  ['a clock that is a day behind', { clockMs: NOW - 86_400_000 }, /1440 minutes behind the leader's/],
];
for (const [what, change, expected] of OBSTACLES) {
  test(`a coordinator with ${what} ${expected ? 'may not' : 'may'} join`, () => {
    const leader = { version: '1.1.0', logFormat: 2, nowMs: NOW };
    const found = joinObstacle({ ...MEMBER, logFormat: 2, ...change }, leader);
    if (expected) assert.match(found ?? '', expected);
    else assert.equal(found, undefined);
  });
}

const HASH = '0'.repeat(64);
const TOKENS: [string, string, boolean][] = [
  ['of a coordinator', `abc123.${SECRET}.${HASH}`, true],
  ['with spaces around it', ` abc123.${SECRET}.${HASH}\n`, true],
  ['of a host', `abc123.${'a'.repeat(16)}.${HASH}`, false],
  ['without a pin', `abc123.${SECRET}`, false],
  ['in upper case', `ABC123.${SECRET}.${HASH}`, false],
];

for (const [what, text, isGood] of TOKENS) {
  test(`a token ${what} ${isGood ? 'is' : 'is not'} accepted`, () => {
    assert.equal(parseCoordinatorToken(text) !== undefined, isGood);
  });
}

const PROOF = snapshotProof(Buffer.alloc(32, 1), 'fleet', MEMBER.id, NOW);
const PROOFS: [string, string | undefined, number, string | undefined][] = [
  ['its own header', PROOF, NOW, MEMBER.id],
  ['a clock that is two minutes behind', PROOF, NOW - 120_000, MEMBER.id],
  ['a header that is ten minutes old', PROOF, NOW + 600_000, undefined],
  ['a header from the future', PROOF, NOW - 600_000, undefined],
  ['another member', PROOF.replace(MEMBER.id, 'ffffffff'), NOW, undefined],
  ['another time', PROOF.replace(String(NOW), String(NOW + 1)), NOW, undefined],
  ['no header', undefined, NOW, undefined],
  ['a bearer token', 'Bearer abc', NOW, undefined],
  ['more words', `${PROOF} x`, NOW, undefined],
];

for (const [what, header, now, expected] of PROOFS) {
  test(`the proof of a member with ${what} is ${expected ? 'accepted' : 'refused'}`, () => {
    assert.equal(verifySnapshotProof(Buffer.alloc(32, 1), 'fleet', header, now), expected);
    assert.equal(verifySnapshotProof(Buffer.alloc(32, 2), 'fleet', header, now), undefined);
    assert.equal(verifySnapshotProof(Buffer.alloc(32, 1), 'other', header, now), undefined);
  });
}
