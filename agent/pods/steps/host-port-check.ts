/**
 * Checks for host ports that are used by other programs, so that an Event explains it instead of a crashing container.
 */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { PortBinding } from '../../runtime/runtime-driver.js';

/** Returns `hostPort 8080/TCP is in use on this host` for the first port in use; undefined if none is known to be. */
export async function portInUse(ports: readonly PortBinding[]): Promise<string | undefined> {
  for (const { hostPort, hostIP, protocol } of ports) {
    const isTaken = protocol === 'udp' ? isUdpTaken : isTcpTaken;
    // The kernel shows SCTP ports only if its module is loaded; for these the engine reports the conflict.
    if (protocol !== 'sctp' && (await isTaken(hostPort, hostIP || '0.0.0.0'))) {
      return `hostPort ${hostPort}/${protocol.toUpperCase()} is in use on this host`;
    }
  }
  return undefined;
}

function isTcpTaken(port: number, deps: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(isInUse(error)));
    server.listen({ port, host: deps, exclusive: true }, () => server.close(() => resolve(false)));
  });
}

function isUdpTaken(port: number, deps: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(deps.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', (error) => {
      socket.close();
      resolve(isInUse(error));
    });
    socket.bind({ port, address: deps, exclusive: true }, () => socket.close(() => resolve(false)));
  });
}

/** Other errors prove nothing: the engine may use ports that only root can open. */
function isInUse(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}
