/**
 * A process inside a Pod's network: connects to ports there and hands the connections to its parent, which ends it when
 * it has had nothing to do for a while (`network-dialer.ts`).
 */
import { connect } from 'node:net';

/** As the kubelet's engines try them. */
const LOOPBACKS = ['127.0.0.1', '::1'];

function dial(id: number, port: number, hosts: readonly string[], errors: readonly string[]): void {
  const [host, ...others] = hosts;
  if (host === undefined) {
    process.send?.({ id, error: errors.join('; ') });
    return;
  }
  const socket = connect({ host, port });
  // What the server says first is for the parent to read.
  socket.pause();
  socket.once('error', (error) => dial(id, port, others, [...errors, error.message]));
  socket.once('connect', () => process.send?.({ id }, socket, { keepOpen: false }));
}

process.on('message', ({ id, port }: { id: number; port: number }) => dial(id, port, LOOPBACKS, []));
process.on('disconnect', () => process.exit(0));
