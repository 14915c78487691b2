/** Local ports and sockets for tests. */
import { createServer, Socket } from 'node:net';

/** Returns a free TCP port on loopback, for a program that must listen on the same port after a restart. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** Returns a socket that fails asynchronously, like a connection without a route. */
export function unreachableSocket(): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(new Error('network is unreachable')));
  return socket;
}
