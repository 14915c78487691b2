/** The coordinator's address as another host must type it. */
import { connect } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);
const CONNECT_TIMEOUT_MS = 1000;

/** This machine's first address that is not loopback, else its name. */
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
 * `server` with a host that others reach: the one given; else its own unless that is loopback; else this machine's,
 * if the coordinator listens there.
 */
export async function reachableServer(server: string, advertise?: string): Promise<string> {
  const url = new URL(server);
  const port = Number(url.port || 443);
  if (advertise) return withHost(server, advertise);
  if (!LOOPBACK.has(url.hostname)) return server;
  const own = ownHost();
  return (await answers(own, port)) ? withHost(server, own) : server;
}

/** `server` with another host. An IPv6 address gets its brackets. */
export function withHost(server: string, host: string): string {
  const port = Number(new URL(server).port || 443);
  return `https://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}

/** Always `localhost` and both loopback addresses; the host's name and all its addresses; and what the user names. */
export function servingNames(given: readonly string[]): string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ scopeid = 0 }) => scopeid === 0)
    .map(({ address }) => address);
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...addresses, ...given])];
}
