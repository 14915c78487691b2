/** Encoding and decoding of frames, and rejection of invalid ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack } from 'msgpackr';
import { decodeFromAgent, decodeFromHub, encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import { ProtocolError } from '../../../shared/link/encoding/schema-combinators.js';
import {
  type FromAgent,
  type Hello,
  MAX_FRAME_BYTES,
  STREAM_CHUNK_BYTES,
} from '../../../shared/link/messages/link-messages.js';

const HELLO: Hello = {
  kind: 'hello',
  node: 'n1',
  bootID: 'b',
  instanceID: 'i',
  agentVersion: '0.1.0',
  features: ['logs'],
  revision: 7,
  objects: [['uid-1', 'digest']],
  register: { labels: { a: 'b' }, taints: [{ key: 'k', effect: 'NoSchedule' }] },
  status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-11-21T10:28:44Z' }] },
  hostTimeMs: 1_795_256_924_000,
};

const plain = (message: unknown): Buffer => pack(JSON.parse(JSON.stringify(message)));

test('a message is unchanged by encoding and decoding', () => {
  assert.deepEqual(decodeFromAgent(encodeMessage(HELLO)), HELLO);
});

test('bytes of an object arrive unchanged', () => {
  const object = Buffer.from('{"kind":"Pod"}');
  const desired = decodeFromHub(
    encodeMessage({
      kind: 'desired',
      id: 1,
      revision: 2,
      set: [{ uid: 'u', digest: 'd', object }],
      removed: [],
    }),
  );
  assert.deepEqual(desired.kind === 'desired' && desired.set[0]?.object, object);
});

test('unknown fields are dropped, absent and null fields are absent', () => {
  const later = { ...HELLO, epoch: null, invented: { deep: [1] } };
  assert.deepEqual(decodeFromAgent(plain(later)), HELLO);
});

const REFUSED: [string, Buffer, RegExp][] = [
  ['nothing', Buffer.alloc(0), /ends inside/],
  ['text', Buffer.from('GET / HTTP/1.1'), /contains bytes after/],
  ['a list', pack([1, 2]), /kind/],
  ['an unknown kind', pack({ kind: 'launch' }), /kind/],
  ['a kind that only the hub sends', encodeMessage({ kind: 'statusAck', id: 1 }), /kind/],
  ['an inherited property name as kind', pack({ kind: 'constructor' }), /kind/],
  ['a missing field', pack({ kind: 'applied' }), /applied\.id/],
  ['a field of another type', plain({ ...HELLO, objects: 'all' }), /hello\.objects/],
  ['a deep mistake', plain({ ...HELLO, objects: [['u', 'd'], ['u']] }), /hello\.objects\[1\]/],
  [
    'a status that is not an object',
    plain({ ...HELLO, status: { conditions: [{ type: 'Ready', status: 'Yes' }] } }),
    /conditions/,
  ],
  [
    'an impossible time',
    plain({
      ...HELLO,
      status: { conditions: [{ type: 'R', status: 'True', lastTransitionTime: '2026-99-01T00:00:00Z' }] },
    }),
    /RFC 3339/,
  ],
  [
    'a chunk beyond the limit',
    encodeMessage({ kind: 'streamData', stream: 1, bytes: new Uint8Array(STREAM_CHUNK_BYTES + 1) }),
    /at most/,
  ],
  ['a list longer than its frame', Buffer.from([0xdd, 0x02, 0, 0, 0]), /shorter than its header states/],
  [
    'a map longer than its frame',
    Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff, 0x00]),
    /shorter than its header states/,
  ],
  [
    'bytes longer than their frame',
    Buffer.from([0xc6, 0x7f, 0xff, 0xff, 0xff, 0x00]),
    /shorter than its header states/,
  ],
  ['bottomless nesting', Buffer.alloc(1_000_000, 0x91), /nests deeper/],
  ['two values', Buffer.concat([encodeMessage(HELLO), encodeMessage(HELLO)]), /contains bytes after/],
  ['half a value', encodeMessage(HELLO).subarray(0, -1), /ends inside|shorter/],
  ['an extension type', pack({ kind: 'applied', id: new Date() }), /extension/],
];

for (const [what, frame, reason] of REFUSED) {
  test(`a message is rejected with a reason: ${what}`, () => {
    assert.throws(
      () => decodeFromAgent(frame),
      (error) => error instanceof ProtocolError && reason.test(error.message),
    );
  });
}

test('a frame above the limit is rejected on both ends', () => {
  const have = Array.from({ length: 40_000 }, (_, i): [string, string] => [`${i}`.padStart(100), 'd']);
  assert.throws(() => encodeMessage({ ...HELLO, objects: have }), ProtocolError);
  assert.throws(() => decodeFromAgent(Buffer.alloc(MAX_FRAME_BYTES + 1, 0xc0)), /the limit is/);
});

test('random bytes never pass the codec and never crash it', () => {
  let seed = 7;
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed >> 8;
  };
  const whole = encodeMessage(HELLO);
  for (let round = 0; round < 3_000; round++) {
    const frame = Buffer.from(whole);
    for (let i = 0; i < 3; i++) frame[next() % frame.length] = next() & 0xff;
    let message: FromAgent | undefined;
    try {
      message = decodeFromAgent(frame);
    } catch (error) {
      assert.ok(error instanceof ProtocolError, String(error));
    }
    if (message?.kind === 'hello') assert.equal(typeof message.node, 'string');
  }
});

test('an Event that is too long is truncated, and an invalid Event costs neither the others nor the session', () => {
  const time = '2026-01-01T00:00:00Z';
  const event = {
    ...{ involvedObject: { kind: 'Pod', name: 'p' }, type: 'Warning', reason: 'Unhealthy', message: 'no' },
    ...{ count: 1, firstTimestamp: time, lastTimestamp: time },
  };
  const items = [
    { ...event, message: 'x'.repeat(10_240) },
    { ...event, involvedObject: null },
    { ...event, count: 0 },
    'rubbish',
    { ...event, reason: 'R'.repeat(129) },
    event,
  ];
  const decoded = decodeFromAgent(plain({ kind: 'events', items }));
  assert.deepEqual(decoded, {
    kind: 'events',
    items: [
      { ...event, message: `${'x'.repeat(1_020)} ...` },
      { ...event, reason: `${'R'.repeat(124)} ...` },
      event,
    ],
  });
  assert.throws(() => decodeFromAgent(plain({ kind: 'events', items: {} })), ProtocolError);
});

test('bytes of a decoded message have memory of their own, so that they do not keep other frames', () => {
  const frame = encodeMessage({ kind: 'streamData', stream: 1, bytes: Buffer.from('x') });
  const message = decodeFromAgent(frame);
  assert.ok(message.kind === 'streamData');
  assert.equal(message.bytes.buffer.byteLength, 1);
});
