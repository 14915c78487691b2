/** The process of `idle-connections.ts`. It receives its target over IPC and exits with the channel. */
import { connect } from 'node:net';
import type { IdleConnectionsCount, IdleConnectionsOrder } from './idle-connections.js';

/** Kept below a server's backlog. Otherwise the kernel delays connections by a second. */
const CONNECTING_AT_ONCE = 200;
const TELL_MS = 100;

const count: IdleConnectionsCount = { opened: 0, open: 0 };

function connectNext(order: IdleConnectionsOrder, left: number[]): void {
  const next = left.pop();
  if (next === undefined) return;
  const localAddress = order.from[next % order.from.length] ?? '127.0.0.1';
  const socket = connect({ port: order.port, host: '127.0.0.1', localAddress });
  let isOpen = false;
  socket.on('connect', () => {
    isOpen = true;
    count.opened += 1;
    count.open += 1;
    connectNext(order, left);
  });
  socket.on('error', () => undefined);
  // Without a reader the socket would not notice that the other end has closed.
  socket.resume();
  socket.on('close', () => {
    if (isOpen) count.open -= 1;
    else {
      left.push(next);
      connectNext(order, left);
    }
  });
}

process.on('message', (order: IdleConnectionsOrder) => {
  const left = Array.from({ length: order.count }, (_, index) => index);
  for (let each = 0; each < CONNECTING_AT_ONCE; each += 1) connectNext(order, left);
  setInterval(() => process.send?.(count), TELL_MS);
});
process.on('disconnect', () => process.exit(0));
