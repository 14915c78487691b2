/** The DNS server of the host's Pods, as the agent's assembly starts it. */
import { CLUSTER_DNS_ADDRESS, DNS_PORT } from '../../shared/kube/services/cluster-dns.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { Random } from '../../shared/process/time/random.js';
import type { ServiceLookup } from '../decisions/services/host-service.js';
import { Forwarder } from './forwarding/forwarder.js';
import { HostNameservers, type NameserverSource } from './forwarding/host-nameservers.js';
import { DnsHandler } from './serving/dns-handler.js';
import { DnsServer } from './serving/dns-server.js';
import { ensureDnsAddress, LocalClients } from './serving/host-network.js';
import { inheritedSockets, openSockets, type ServerSockets } from './serving/server-sockets.js';

interface ClusterDnsDeps {
  services: ServiceLookup;
  /** Returns true if a Pod of this host is in the namespace. */
  hasNamespace: (namespace: string) => boolean;
  /** Resolves with false if the engine's Pods cannot reach an address of this host's loopback device. */
  canPodsConnect: () => Promise<boolean>;
  /** Reports a Warning of the Node. */
  warn: (reason: string, message: string) => void;
  clock: Clock;
  random: Random;
  log: Logger;
  /** Replaced in tests. */
  host?: DnsHost;
}

/** What the server needs of the host. */
export interface DnsHost {
  nameservers: NameserverSource;
  isLocalClient: (address: string) => boolean;
  /** Resolves when the server's address exists. Rejects with the reason why it cannot. */
  ensureAddress(): Promise<void>;
  /** Resolves with the server's sockets. Rejects if its port is in use. */
  openSockets(): Promise<ServerSockets>;
  /** True if systemd started this process as a service. */
  isService: boolean;
}

/** A version without cluster DNS has installed this host, and an upgrade replaces only the program. */
const MISSING_SOCKET_UNIT =
  'systemd does not hold the sockets of the cluster DNS, so queries of Pods fail while the agent restarts or is upgraded: ' +
  'run the line that installed this host again, to add everynode-agent-dns.socket';

export interface ClusterDns extends Component {
  /** Address of the server for Pods' resolv.conf. Undefined while it cannot be served; the reason is logged. */
  address(): string | undefined;
  /** Queries since the start, and cached replies of the host's resolvers. */
  counts(): { queries: number; cachedReplies: number };
}

const CHECK_INTERVAL_MS = 10_000;

/** Returns the server. It fails no start: while the address is unavailable, it tries again at intervals. */
export function createClusterDns(deps: ClusterDnsDeps): ClusterDns {
  const serving = new ServingDns(deps);
  return {
    name: 'cluster DNS',
    start: () => serving.start(),
    stop: () => serving.stop(),
    counts: () => serving.counts(),
    address: () => (serving.isServing ? CLUSTER_DNS_ADDRESS : undefined),
  };
}

class ServingDns {
  readonly #deps: ClusterDnsDeps;
  readonly #host: DnsHost;
  readonly #server: DnsServer;
  readonly #forwarder: Forwarder;
  #timer: Timer | undefined;
  #hasAddress = false;
  #hasSockets = false;
  #isStopped = false;
  /** The missing unit was reported. */
  #hasWarned = false;
  /** Reason of the last failure, so that it is logged once. */
  #failure = '';

  constructor(deps: ClusterDnsDeps) {
    const { clock, random, services, hasNamespace, log } = deps;
    this.#deps = deps;
    this.#host = deps.host ?? systemHost(clock);
    const { nameservers, isLocalClient } = this.#host;
    this.#forwarder = new Forwarder({ nameservers, clock, log });
    const forwarder = this.#forwarder;
    const handler = new DnsHandler({ services, hasNamespace, forwarder, clock, random: random.random });
    this.#server = new DnsServer({ handler, isLocalClient, clock, log });
  }

  get isServing(): boolean {
    return this.#hasAddress && this.#hasSockets;
  }

  counts(): { queries: number; cachedReplies: number } {
    return { queries: this.#server.queries, cachedReplies: this.#forwarder.cachedReplies };
  }

  /** Level-triggered: another program may remove the address, or release the port. */
  async start(): Promise<void> {
    try {
      this.#hasAddress = await succeeds(this.#ensureAddress(), (why) => this.#logFailure(why));
      if (this.#hasAddress && !this.#hasSockets) await this.#serve();
    } catch (error) {
      this.#logFailure(error);
    }
    if (!this.#isStopped) this.#timer = this.#deps.clock.after(CHECK_INTERVAL_MS, () => void this.start());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#hasSockets = false;
    await this.#server.stop();
  }

  async #ensureAddress(): Promise<void> {
    if (!(await this.#deps.canPodsConnect()))
      throw new Error('the container engine runs in another network than the agent, or without root');
    await this.#host.ensureAddress();
  }

  async #serve(): Promise<void> {
    const sockets = await this.#host.openSockets();
    if (this.#isStopped) return sockets.detach();
    this.#server.serve(sockets);
    this.#hasSockets = true;
    this.#failure = '';
    this.#deps.log.info({ address: CLUSTER_DNS_ADDRESS }, 'the cluster DNS is served');
    if (sockets.areHeld || !this.#host.isService || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#deps.log.warn(MISSING_SOCKET_UNIT);
    this.#deps.warn('DNSSocketUnitMissing', MISSING_SOCKET_UNIT);
  }

  #logFailure(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    if (why === this.#failure) return;
    this.#failure = why;
    this.#deps.log.warn({ why }, 'the cluster DNS is not available: new Pods use the resolver of the host');
  }
}

/** Resolves with false, after reporting the error, if the work fails. */
async function succeeds(work: Promise<void>, onError: (error: unknown) => void): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    onError(error);
    return false;
  }
}

function systemHost(clock: Clock): DnsHost {
  const clients = new LocalClients(clock);
  return {
    nameservers: new HostNameservers('/etc/resolv.conf', clock),
    isLocalClient: (address) => clients.has(address),
    ensureAddress: ensureDnsAddress,
    isService: process.env.INVOCATION_ID !== undefined,
    openSockets: async () =>
      (await inheritedSockets(process.env)) ?? (await openSockets(CLUSTER_DNS_ADDRESS, DNS_PORT)),
  };
}
