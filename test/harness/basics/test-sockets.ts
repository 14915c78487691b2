/** Local ports and sockets for tests. */
import { randomInt } from 'node:crypto';
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';

/**
 * Ports below those that Linux gives to outgoing connections (32768 to 60999) and below node ports (30000 to 32767). A
 * port of outgoing connections can be taken by any connection of another test between its choice and its use, or while
 * the program that listened on it restarts. They are above the ports that `up --coordinators` tries for etcd, from 23790
 * on: such a cluster in one test would take a port that another test has chosen.
 */
const FIRST_PORT = 25_000;
const PORTS = 5_000;

/** Ports that this process has chosen. A program that restarts leaves its port free for a moment. */
const chosen = new Set<number>();

/** Returns a free TCP port, each one once per process, for a program that must listen on the same port after a restart. */
export function freePort(): Promise<number> {
  return choosePort(isFreeOnTcp);
}

/** Returns a port that is free on UDP and on TCP, each one once per process. */
export function freeUdpAndTcpPort(): Promise<number> {
  return choosePort(async (port) => (await isFreeOnTcp(port)) && (await isFreeOnUdp(port)));
}

async function choosePort(isFree: (port: number) => Promise<boolean>): Promise<number> {
  while (chosen.size < PORTS) {
    const port = FIRST_PORT + randomInt(PORTS);
    if (chosen.has(port)) continue;
    chosen.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`this process has tried all ${PORTS} ports for tests`);
}

async function isFreeOnTcp(port: number): Promise<boolean> {
  const server = createServer().listen(port);
  const isFree = await isListening(server);
  if (isFree) await new Promise((resolve) => server.close(resolve));
  return isFree;
}

async function isFreeOnUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4').bind(port);
  const isFree = await isListening(socket);
  socket.close();
  return isFree;
}

/** Resolves with false if the port is in use. */
async function isListening(socket: Server | DatagramSocket): Promise<boolean> {
  try {
    await once(socket, 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}

/** Opens a port on UDP and TCP. Tries another one if a program of another process took it after its choice. */
export async function openUdpAndTcp(
  address = '127.0.0.1',
  choose = freeUdpAndTcpPort,
): Promise<{ udp: DatagramSocket; tcp: Server }> {
  for (;;) {
    const port = await choose();
    const udp = createSocket('udp4').bind(port, address);
    if (await isListening(udp)) {
      const tcp = createServer().listen(port, address);
      if (await isListening(tcp)) return { udp, tcp };
    }
    // An open socket would keep the process of the test from ending.
    udp.close();
  }
}

/** Returns a socket that fails asynchronously, like a connection without a route. */
export function unreachableSocket(): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(new Error('network is unreachable')));
  return socket;
}
