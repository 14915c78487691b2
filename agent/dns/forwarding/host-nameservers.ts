/** The host's own resolvers, read again when its resolv.conf changes. */
import { readFileSync, statSync } from 'node:fs';
import { CLUSTER_DNS_ADDRESS, DNS_PORT } from '../../../shared/kube/services/cluster-dns.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { parseResolvConf } from '../../decisions/container-spec/dns-resolver.js';

export interface Nameserver {
  address: string;
  port: number;
}

export interface NameserverSource {
  /** Returns the servers in their order of preference. */
  current(): readonly Nameserver[];
}

const CHECK_INTERVAL_MS = 1_000;
/** libc's server for a resolv.conf that names none (resolv.conf(5)). */
const DEFAULT_SERVER = '127.0.0.1';

export class HostNameservers implements NameserverSource {
  readonly #path: string;
  readonly #clock: Clock;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #version = '';
  #servers: Nameserver[] = [];

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** Returns the servers of the last readable file: a query must be answered while the file cannot be read. */
  current(): readonly Nameserver[] {
    const now = this.#clock.monotonic();
    if (now - this.#checkedAt < CHECK_INTERVAL_MS) return this.#servers;
    this.#checkedAt = now;
    try {
      // Programs that manage the file replace it, so its inode changes even within a clock tick.
      const { ino, mtimeMs, size } = statSync(this.#path);
      const version = `${ino} ${mtimeMs} ${size}`;
      if (version === this.#version) return this.#servers;
      this.#servers = serversIn(readFileSync(this.#path, 'utf8'));
      this.#version = version;
    } catch {
      // A network manager may be replacing the file. The next check reads it.
    }
    return this.#servers;
  }
}

function serversIn(resolvConf: string): Nameserver[] {
  const { nameservers } = parseResolvConf(resolvConf);
  const addresses = nameservers.length > 0 ? nameservers : [DEFAULT_SERVER];
  // A host that uses this server itself must not be asked in turn.
  return addresses
    .filter((address) => address !== CLUSTER_DNS_ADDRESS)
    .map((address) => ({ address, port: DNS_PORT }));
}
