/**
 * A process inside a Pod's network. It connects to ports there and passes the connections to its parent
 * (`network-dialer.ts`). The parent ends it when it has been idle for a while.
 */
import { connect } from 'node:net';

/** Tried in this order, as in the container runtimes of the kubelet. */
const LOOPBACKS = ['127.0.0.1', '::1'];

function dial(id: number, port: number, hosts: readonly string[], errors: readonly string[]): void {
  const [host, ...others] = hosts;
  if (host === undefined) {
    process.send?.({ id, error: errors.join('; ') });
    return;
  }
  const socket = connect({ host, port });
  // The parent must read the server's first bytes.
  socket.pause();
  socket.once('error', (error) => dial(id, port, others, [...errors, error.message]));
  socket.once('connect', () => process.send?.({ id }, socket, { keepOpen: false }));
}

process.on('message', ({ id, port }: { id: number; port: number }) => dial(id, port, LOOPBACKS, []));
process.on('disconnect', () => process.exit(0));
