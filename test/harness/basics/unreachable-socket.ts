/** A network that leads nowhere. */
import { Socket } from 'node:net';

/** Fails as soon as somebody listens, as a dial without a route does. */
export function unreachableSocket(): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(new Error('network is unreachable')));
  return socket;
}
