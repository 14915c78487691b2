import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import {
  HANDSHAKE_SLOT_MS,
  HandshakeQueue,
  MAX_CONCURRENT_HANDSHAKES,
  MAX_QUEUE_WAIT_MS,
  MAX_QUEUED_PER_SITE,
} from '../../../coordinator/api/limits/handshake-queue.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

class FakeSocket extends EventEmitter {
  readonly remoteFamily = 'IPv4';
  destroyed = false;

  constructor(
    readonly remotePort: number,
    readonly remoteAddress = '10.0.0.1',
  ) {
    super();
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const asSocket = (socket: FakeSocket) => socket as unknown as Socket;

function line(count: number) {
  const clock = new ManualClock();
  const begun: Socket[] = [];
  const refused: string[] = [];
  const handshakes = new HandshakeQueue(
    clock,
    (socket) => begun.push(socket),
    ({ remoteAddress, code }) => refused.push(`${code} ${remoteAddress}`),
  );
  const sockets = Array.from({ length: count }, (_, index) => new FakeSocket(index + 1));
  for (const socket of sockets) handshakes.add(asSocket(socket));
  const settle = () => clock.yieldToEventLoop();
  return { clock, begun, refused, handshakes, sockets, settle };
}

describe('handshakes', () => {
  test('handshakes start in order of arrival, up to the limit', async () => {
    const { begun, handshakes, sockets, settle } = line(MAX_CONCURRENT_HANDSHAKES + 2);
    await settle();
    assert.deepEqual(begun, sockets.slice(0, MAX_CONCURRENT_HANDSHAKES));
    handshakes.onHandshakeEnd(asSocket(sockets[5] as FakeSocket));
    await settle();
    assert.deepEqual(begun, sockets.slice(0, MAX_CONCURRENT_HANDSHAKES + 1));
  });

  test('a failed handshake frees its place, once', async () => {
    const { begun, handshakes, sockets, settle } = line(MAX_CONCURRENT_HANDSHAKES + 3);
    await settle();
    sockets[0]?.destroy();
    handshakes.onHandshakeEnd(asSocket(sockets[0] as FakeSocket));
    await settle();
    assert.equal(begun.length, MAX_CONCURRENT_HANDSHAKES + 1);
  });

  test('a slow client does not block others for long', async () => {
    const { begun, clock, settle } = line(2 * MAX_CONCURRENT_HANDSHAKES);
    await settle();
    clock.advance(HANDSHAKE_SLOT_MS);
    await settle();
    assert.equal(begun.length, 2 * MAX_CONCURRENT_HANDSHAKES);
  });

  test('a client that leaves while waiting is not started', async () => {
    const { begun, handshakes, sockets, settle } = line(MAX_CONCURRENT_HANDSHAKES + 2);
    await settle();
    sockets.at(-2)?.destroy();
    handshakes.onHandshakeEnd(asSocket(sockets[0] as FakeSocket));
    await settle();
    assert.equal(begun.at(-1), sockets.at(-1));
  });

  test('a client that waited too long is rejected, and later clients get their turn', async () => {
    const { begun, refused, clock, handshakes, sockets, settle } = line(10 * MAX_CONCURRENT_HANDSHAKES);
    await settle();
    clock.advance(MAX_QUEUE_WAIT_MS + 1);
    const late = new FakeSocket(60_000);
    handshakes.add(asSocket(late));
    await settle();
    assert.equal(begun.at(-1), late);
    assert.ok(sockets.at(-1)?.destroyed);
    assert.deepEqual(new Set(refused), new Set(['503 10.0.0.1']));
  });

  test('a site with too many waiting connections is refused, and another site is not', async () => {
    const { refused, handshakes, settle } = line(MAX_CONCURRENT_HANDSHAKES);
    await settle();
    for (let port = 1_000; port < 1_000 + MAX_QUEUED_PER_SITE; port += 1)
      handshakes.add(asSocket(new FakeSocket(port)));
    const [surplus, other] = [new FakeSocket(60_000), new FakeSocket(60_000, '10.0.0.2')];
    handshakes.add(asSocket(surplus));
    handshakes.add(asSocket(other));
    assert.ok(surplus.destroyed && !other.destroyed);
    assert.deepEqual(refused, ['429 10.0.0.1']);
  });

  test('many connections from one address queue behind each other: another address is next', async () => {
    const { begun, handshakes, sockets, settle } = line(10 * MAX_CONCURRENT_HANDSHAKES);
    const others = ['10.0.0.2', '10.0.0.3'].map((address) => new FakeSocket(60_000, address));
    await settle();
    for (const other of others) handshakes.add(asSocket(other));
    for (const socket of sockets.slice(0, 4)) handshakes.onHandshakeEnd(asSocket(socket));
    await settle();
    const next = sockets.slice(MAX_CONCURRENT_HANDSHAKES, MAX_CONCURRENT_HANDSHAKES + 2);
    assert.deepEqual(begun.slice(MAX_CONCURRENT_HANDSHAKES), [next[0], ...others, next[1]]);
  });

  test('many connections from one IPv6 prefix queue behind each other, whatever their addresses', async () => {
    const { begun, handshakes, settle } = line(0);
    const crowd = Array.from(
      { length: MAX_CONCURRENT_HANDSHAKES + 10 },
      (_, at) => new FakeSocket(at + 1, `2001:db8:1:${at.toString(16)}::${at.toString(16)}`),
    );
    for (const socket of crowd) handshakes.add(asSocket(socket));
    await settle();
    const others = ['2001:db8:2::1', '2001:db8:1:ffff::1'].map((address) => new FakeSocket(60_000, address));
    for (const other of others) handshakes.add(asSocket(other));
    for (const socket of crowd.slice(0, 2)) handshakes.onHandshakeEnd(asSocket(socket));
    await settle();
    // The second of the other clients is in the network of the many, and queues behind them.
    assert.deepEqual(begun.slice(MAX_CONCURRENT_HANDSHAKES), [crowd[MAX_CONCURRENT_HANDSHAKES], others[0]]);
  });

  test('closing rejects all waiting clients', async () => {
    const { handshakes, sockets, settle } = line(MAX_CONCURRENT_HANDSHAKES + 2);
    await settle();
    handshakes.close();
    assert.deepEqual(
      sockets.map(({ destroyed }) => destroyed),
      sockets.map((_, at) => at >= MAX_CONCURRENT_HANDSHAKES),
    );
  });
});
