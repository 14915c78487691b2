/** Local ports and sockets for tests. */
import { randomInt } from 'node:crypto';
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';

/**
 * Ports below those that Linux gives to outgoing connections (32768 to 60999). A port of these can be taken by any
 * connection of another test between its choice and its use, or while the program that listened on it restarts.
 */
const FIRST_PORT = 20_000;
const PORTS = 10_000;

/** Returns a free TCP port on loopback, for a program that must listen on the same port after a restart. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + randomInt(PORTS);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, () => server.close(() => resolve(true)));
  });
}

/** Opens a port on UDP and TCP. A port that the system chooses for UDP can be in use on TCP. */
export async function openUdpAndTcp(address = '127.0.0.1'): Promise<{ udp: DatagramSocket; tcp: Server }> {
  const port = await freePort();
  const udp = createSocket('udp4').bind(port, address);
  await once(udp, 'listening');
  const tcp = createServer().listen(port, address);
  try {
    await once(tcp, 'listening');
  } catch (error) {
    // An open socket would keep the process of the test from ending.
    udp.close();
    throw error;
  }
  return { udp, tcp };
}

/** Returns a socket that fails asynchronously, like a connection without a route. */
export function unreachableSocket(): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(new Error('network is unreachable')));
  return socket;
}
