import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import {
  type ClientConnection,
  HeldConnections,
  MAX_HELD,
  MAX_HOLD_MS,
} from '../../../coordinator/cluster/front-door/held-connections.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

class FakeSocket extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function held() {
  const clock = new ManualClock();
  const refused: string[] = [];
  const connections = new HeldConnections({
    clock,
    onRefused: ({ arrival }, code) => refused.push(`${code} ${arrival.address}`),
  });
  const add = (address: string): ClientConnection => {
    const socket = new FakeSocket() as unknown as Socket;
    const connection = { socket, arrival: { path: 'direct', address }, since: clock.monotonic() } as const;
    connections.add(connection);
    return connection;
  };
  return { clock, refused, connections, add };
}

describe('connections that wait for a leader', () => {
  test('are returned in order of arrival, once, and are not refused later', () => {
    const { clock, refused, connections, add } = held();
    const all = [add('a'), add('b'), add('a')];
    assert.deepEqual(connections.takeAll(), all);
    assert.deepEqual([connections.takeAll(), connections.size], [[], 0]);
    clock.advance(MAX_HOLD_MS);
    assert.deepEqual(refused, []);
    assert.ok(all.every(({ socket }) => !socket.destroyed && socket.listenerCount('close') === 0));
  });

  test('are refused at their own time, counted from their arrival, also when they waited twice', () => {
    const { clock, refused, connections, add } = held();
    const first = add('a');
    clock.advance(MAX_HOLD_MS - 1);
    add('b');
    for (const connection of connections.takeAll()) connections.add(connection);
    assert.deepEqual(refused, []);
    clock.advance(1);
    assert.deepEqual([refused, first.socket.destroyed], [['503 a'], true]);
    clock.advance(MAX_HOLD_MS - 1);
    assert.deepEqual([refused, connections.size], [['503 a', '503 b'], 0]);
  });

  test('are refused above the limit of their network, while other networks may wait', () => {
    const { refused, connections, add } = held();
    for (let at = 0; at <= MAX_HELD.perNetwork; at += 1) add(`2001:db8::${at.toString(16)}`);
    add('2001:db8:0:1::1');
    assert.deepEqual([refused, connections.size], [['429 2001:db8::400'], MAX_HELD.perNetwork + 1]);
  });

  test('are refused above the total limit, and a client that leaves makes room', () => {
    const { refused, connections, add } = held();
    const all = Array.from({ length: MAX_HELD.total }, (_, at) => add(`a${at}`));
    add('b');
    assert.deepEqual(refused, ['429 b']);
    all[0]?.socket.destroy();
    add('c');
    assert.deepEqual([refused, connections.size], [['429 b'], MAX_HELD.total]);
  });

  test('are not held if the client has left already', () => {
    const { connections } = held();
    const socket = Object.assign(new FakeSocket(), { destroyed: true }) as unknown as Socket;
    connections.add({ socket, arrival: { path: 'direct', address: 'a' }, since: 0 });
    assert.equal(connections.size, 0);
  });
});
