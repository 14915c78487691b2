import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import {
  FIRST_RECORD_TIMEOUT_MS,
  type ForwardingHeaders,
  firstRecordBytes,
  MAX_PRE_HANDSHAKE,
  MAX_PRE_HANDSHAKE_PER_NETWORK,
  PreHandshakeSockets,
} from '../../../coordinator/api/limits/pre-handshake-sockets.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const HELLO = Buffer.from([22, 3, 1, 0, 3, 7, 8, 9]);

function room(forwarding?: ForwardingHeaders) {
  const clock = new ManualClock();
  const spoken: Socket[] = [];
  const arrivals: string[] = [];
  const refused: string[] = [];
  const silent = new PreHandshakeSockets({
    clock,
    onFirstRecord: (socket, { path, address }) => {
      spoken.push(socket);
      arrivals.push(`${path} ${address}`);
    },
    ...(forwarding ? { forwarding } : {}),
    onRefused: ({ code, remoteAddress }) => refused.push(`${code} ${remoteAddress}`),
  });
  const come = (remoteAddress: string) => {
    const stream = Object.assign(new PassThrough(), { remoteAddress });
    silent.add(stream as unknown as Socket);
    return stream;
  };
  const settle = async () => {
    for (let turn = 0; turn < 4; turn += 1) await clock.yieldToEventLoop();
  };
  return { clock, spoken, arrivals, refused, silent, come, settle };
}

describe('silent sockets', () => {
  test('a socket that sends its first record is handed on at once, and the record can be read again', async () => {
    const { spoken, silent, come, settle } = room();
    const socket = come('a');
    socket.write(HELLO);
    await settle();
    assert.deepEqual(spoken, [socket]);
    assert.equal(silent.size, 0);
    assert.deepEqual(socket.read(), HELLO);
    assert.deepEqual(
      ['readable', 'error'].map((event) => socket.listenerCount(event)),
      [0, 0],
    );
  });

  test('half a record counts as silence; its other half completes it', async () => {
    const { spoken, come, settle } = room();
    const socket = come('a');
    for (const byte of HELLO.subarray(0, -1)) {
      socket.write(Buffer.from([byte]));
      await settle();
    }
    assert.deepEqual(spoken, []);
    socket.write(Buffer.concat([HELLO.subarray(-1), Buffer.from('more')]));
    await settle();
    assert.deepEqual(spoken, [socket]);
    assert.deepEqual(socket.read(), Buffer.concat([HELLO, Buffer.from('more')]));
  });

  test('a socket that is silent for too long is closed and reported, and none is closed early', async () => {
    const { clock, refused, silent, come, settle } = room();
    const first = come('a');
    clock.advance(FIRST_RECORD_TIMEOUT_MS - 1);
    const second = come('b');
    assert.deepEqual(refused, []);
    clock.advance(1);
    assert.deepEqual(refused, ['408 a']);
    assert.ok(first.destroyed && !second.destroyed);
    clock.advance(FIRST_RECORD_TIMEOUT_MS);
    assert.deepEqual(refused, ['408 a', '408 b']);
    await settle();
    assert.equal(silent.size, 0);
  });

  test('above the limit of a network its oldest silent sockets are closed; sockets that sent data, and others, are kept', async () => {
    const { refused, come, settle } = room();
    const other = come('b');
    const crowd = Array.from({ length: MAX_PRE_HANDSHAKE_PER_NETWORK + 10 }, () => come('a'));
    crowd[0]?.write(HELLO);
    await settle();
    assert.deepEqual(refused, Array(9).fill('429 a'));
    assert.deepEqual(
      crowd.map(({ destroyed }) => destroyed),
      crowd.map((_, at) => at >= 1 && at <= 9),
    );
    assert.ok(!other.destroyed);
  });

  test('for IPv6 the limit applies to a prefix: more addresses do not raise it', async () => {
    const { refused, come, settle } = room();
    const other = come('2001:db8:0:2::1');
    for (let at = 0; at <= MAX_PRE_HANDSHAKE_PER_NETWORK; at += 1) come(`2001:db8:0:1::${at.toString(16)}`);
    await settle();
    assert.deepEqual(refused, ['429 2001:db8:0:1::0']);
    assert.ok(!other.destroyed);
  });

  test('above the total limit the oldest silent sockets are closed, from any network', async () => {
    const { refused, silent, come, settle } = room();
    for (let at = 0; at < MAX_PRE_HANDSHAKE + 2; at += 1) come(`a${at}`);
    await settle();
    assert.deepEqual(refused, ['429 a0', '429 a1']);
    assert.equal(silent.size, MAX_PRE_HANDSHAKE);
  });

  test('a socket that disconnects is forgotten; after closing, new sockets are rejected', async () => {
    const { refused, silent, come, settle } = room();
    come('a').destroy();
    const there = come('a');
    await settle();
    assert.equal(silent.size, 1);
    silent.close();
    assert.ok(there.destroyed && come('a').destroyed);
    await settle();
    assert.equal(silent.size, 0);
    assert.deepEqual(refused, []);
  });
});

/** A header is `\r`, the length of the address and the address. The address `bad` is refused. */
const SHORT_HEADERS: ForwardingHeaders = {
  lengthIn: (bytes) => (bytes[0] === 13 ? 2 + (bytes[1] ?? 0) : undefined),
  read: (header) => {
    const client = header.toString('latin1', 2);
    return client === 'bad' ? { refused: 'not signed' } : { client };
  },
};
const headerOf = (client: string) => Buffer.concat([Buffer.of(13, client.length), Buffer.from(client)]);

describe('sockets that another coordinator forwards', () => {
  test('the header is removed and names the client, in whatever pieces it arrives', async () => {
    const bytes = Buffer.concat([headerOf('client-1'), HELLO]);
    for (let at = 0; at <= bytes.length; at += 1) {
      const { arrivals, silent, come, settle } = room(SHORT_HEADERS);
      const socket = come('follower');
      socket.write(bytes.subarray(0, at));
      await settle();
      socket.write(bytes.subarray(at));
      await settle();
      assert.deepEqual([arrivals, silent.size], [['forwarded client-1'], 0], `cut at ${at}`);
      assert.deepEqual(socket.read(), HELLO);
    }
  });

  test('a refused header closes the socket, and the follower is reported', async () => {
    const { arrivals, refused, come, settle } = room(SHORT_HEADERS);
    const socket = come('follower');
    socket.write(Buffer.concat([headerOf('bad'), HELLO]));
    await settle();
    assert.deepEqual([socket.destroyed, arrivals, refused], [true, [], ['401 follower']]);
  });

  test('a socket counts for the network of its client: many clients of one follower are no crowd', async () => {
    const { refused, come, settle } = room(SHORT_HEADERS);
    for (let at = 0; at < MAX_PRE_HANDSHAKE_PER_NETWORK; at += 1)
      come('follower').write(headerOf(`client-${at}`));
    await settle();
    for (let at = 0; at < MAX_PRE_HANDSHAKE_PER_NETWORK; at += 1) come('follower').write(headerOf('crowd'));
    await settle();
    come('other').write(headerOf('crowd'));
    await settle();
    assert.deepEqual(refused, ['429 crowd']);
  });

  test('a second header is not read: it is no TLS', async () => {
    const { arrivals, come, settle } = room(SHORT_HEADERS);
    const socket = come('follower');
    socket.write(Buffer.concat([headerOf('first'), headerOf('second')]));
    await settle();
    assert.deepEqual(arrivals, ['forwarded first']);
    assert.deepEqual(socket.read(), headerOf('second'));
  });

  test('without other coordinators the bytes of a header are passed on like any that are not TLS', async () => {
    const { arrivals, come, settle } = room();
    const socket = come('a');
    socket.write(headerOf('client'));
    await settle();
    assert.deepEqual([arrivals, socket.read()], [['direct a'], headerOf('client')]);
  });
});

test('the length of the first record is read from its header; without a record it is the length of the data', () => {
  const table: [number[], number][] = [
    [[22, 3, 1, 0, 3, 7], 8],
    [[22, 3, 1, 0x41, 0], 0x4105],
    [[22, 3, 1, 0x41, 1], 5],
    [[...Buffer.from('GET /')], 5],
  ];
  for (const [bytes, length] of table) assert.equal(firstRecordBytes(Buffer.from(bytes)), length);
});
