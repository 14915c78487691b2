/** Whether other programs of the host hold ports that a Pod wants: told before its containers start, not by their crash. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { PortBinding } from '../../runtime/runtime-driver.js';

/** `hostPort 8080/TCP is in use on this host`, of the first that is; undefined when all are free, as far as can be told. */
export async function portInUse(ports: readonly PortBinding[]): Promise<string | undefined> {
  for (const { hostPort, hostIP, protocol } of ports) {
    const isTaken = protocol === 'udp' ? isUdpTaken : isTcpTaken;
    // The kernel tells of SCTP only where its module is loaded; the engine tells then.
    if (protocol !== 'sctp' && (await isTaken(hostPort, hostIP || '0.0.0.0'))) {
      return `hostPort ${hostPort}/${protocol.toUpperCase()} is in use on this host`;
    }
  }
  return undefined;
}

function isTcpTaken(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(isInUse(error)));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(false)));
  });
}

function isUdpTaken(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', (error) => {
      socket.close();
      resolve(isInUse(error));
    });
    socket.bind({ port, address: host, exclusive: true }, () => socket.close(() => resolve(false)));
  });
}

/** Anything else, such as a port that only root may take, says nothing of the engine's chances. */
function isInUse(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}
