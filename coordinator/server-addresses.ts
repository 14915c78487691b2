/** Addresses and names of the coordinator as other machines use them. */
import { connect } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);
const CONNECT_TIMEOUT_MS = 1000;

/** Returns this machine's first address other than loopback, else its name. */
function ownHost(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? hostname();
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const done = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.on('connect', () => done(true));
    socket.on('error', () => done(false));
    socket.on('timeout', () => done(false));
  });
}

/**
 * Returns `server` with a host that other machines can reach: `advertise`, else the server's own host unless it is
 * loopback, else this machine's address if the coordinator listens there.
 */
export async function reachableServer(server: string, advertise?: string): Promise<string> {
  const url = new URL(server);
  const port = Number(url.port || 443);
  if (advertise) return withHost(server, advertise);
  if (!LOOPBACK.has(url.hostname)) return server;
  const own = ownHost();
  return (await answers(own, port)) ? withHost(server, own) : server;
}

/** Returns `server` with another host. Adds brackets to an IPv6 address. */
export function withHost(server: string, host: string): string {
  const port = Number(new URL(server).port || 443);
  return `https://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}

/**
 * Returns the names for the serving certificate: `localhost`, the loopback addresses, this machine's name and
 * addresses, and `given`.
 */
export function servingNames(given: readonly string[]): string[] {
  return [...new Set(['localhost', '127.0.0.1', '::1', ...machineNames(), ...given])];
}

/** Returns this machine's name and its addresses, without link-local ones. */
export function machineNames(): string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ scopeid = 0 }) => scopeid === 0)
    .map(({ address }) => address);
  return [hostname(), ...addresses];
}

/** Returns the address of this coordinator for other coordinators: `https://HOST:PORT`. */
export function memberServer({ advertise, port }: { advertise?: string | undefined; port: number }): string {
  return withHost(`https://localhost:${port}`, advertise ?? ownHost());
}
