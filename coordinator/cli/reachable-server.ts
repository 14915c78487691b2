/** The coordinator's address as another host must type it. */
import { hostname, networkInterfaces } from 'node:os';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** This machine's first address that is not loopback, else its name. */
function ownHost(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? hostname();
}

/** `server` with a host that others reach: the one given, else its own unless that is loopback, else this machine's. */
export function reachableServer(server: string, advertise?: string): string {
  const url = new URL(server);
  const host = advertise ?? (LOOPBACK.has(url.hostname) ? ownHost() : url.hostname);
  return `https://${host}:${url.port || 443}`;
}
