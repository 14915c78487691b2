/** The names and addresses under which clients may find this machine. */
import { hostname, networkInterfaces } from 'node:os';

/** Always `localhost` and both loopback addresses; the host's name and all its addresses; and what the user names. */
export function servingNames(given: readonly string[]): string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ scopeid = 0 }) => scopeid === 0)
    .map(({ address }) => address);
  return [...new Set(['localhost', '127.0.0.1', '::1', hostname(), ...addresses, ...given])];
}
