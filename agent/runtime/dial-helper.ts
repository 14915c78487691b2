/**
 * A process inside a Pod's network: connects to ports there and hands the connections to its parent, then ends when
 * it has had nothing to do for a while. Its parent is `network-dialer.ts`.
 */
import { connect } from 'node:net';

const IDLE_MS = 10_000;
/** As the kubelet's engines try them. */
const LOOPBACKS = ['127.0.0.1', '::1'];

let pending = 0;
let idle = setTimeout(() => process.exit(0), IDLE_MS);

function settled(): void {
  pending -= 1;
  if (pending === 0) idle = setTimeout(() => process.exit(0), IDLE_MS);
}

function dial(id: number, port: number, hosts: readonly string[], errors: readonly string[]): void {
  const [host, ...others] = hosts;
  if (host === undefined) {
    process.send?.({ id, error: errors.join('; ') });
    settled();
    return;
  }
  const socket = connect({ host, port });
  // What the server says first is for the parent to read.
  socket.pause();
  socket.once('error', (error) => dial(id, port, others, [...errors, error.message]));
  socket.once('connect', () => process.send?.({ id }, socket, { keepOpen: false }, settled));
}

process.on('message', ({ id, port }: { id: number; port: number }) => {
  clearTimeout(idle);
  pending += 1;
  dial(id, port, LOOPBACKS, []);
});
process.on('disconnect', () => process.exit(0));
