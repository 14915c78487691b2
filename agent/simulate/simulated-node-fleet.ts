/** Many simulated hosts in one process. */
import { Agent as HttpsAgent } from 'node:https';
import { createSecureContext } from 'node:tls';
import { JOIN_PATH, type JoinRequest } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import { monotonicClock, systemClock } from '../../shared/process/time/clock.js';
import { TimeSlice } from '../../shared/process/time/time-slice.js';
import {
  JoinError,
  type Registration,
  requestCertificate,
  type TrustedCoordinator,
} from '../identity/coordinator-client.js';
import { certificateRequest } from '../identity/host-certificate-request.js';
import { parseServers, trustCoordinator } from '../identity/join-coordinator.js';
import { CoordinatorAddresses } from '../link/coordinator-addresses.js';
import { ResumingTls } from '../link/resuming-tls.js';
import { simulatedHostKey } from './hollow-host.js';
import type { NodeQuery } from './node-query.js';
import type { NodeTemplate } from './node-templates.js';
import { SimulatedHostNetwork } from './simulated-host-network.js';
import { type NodeCounts, SimulatedNode, WarningLimiter } from './simulated-node.js';

/** Concurrent joins: enough to keep a coordinator busy, few enough that no handshake times out. */
const JOINING_AT_ONCE = 32;
/** Timeout for a host's first connection. The host keeps trying, and the next one joins. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Attempts to join before the simulation fails, and the delay after the first. */
const MAX_JOIN_ATTEMPTS = 10;
const REJOIN_DELAY_MS = 500;
/** Limit of sockets per source address. Beyond it the kernel's search for a free port takes milliseconds. */
const SOCKETS_PER_ADDRESS = 400;

interface SimulatedNodeFleetOptions {
  /** `https://HOST:PORT`, comma-separated. */
  server: string;
  /** `ID.SECRET.CAHASH`. */
  token: string;
  templates: readonly NodeTemplate[];
  /** Divides all durations in the Pods' annotations. */
  speed: number;
  /**
   * True: each host has its own TLS session with its client certificate. False: all share one session, and each
   * proves its key inside the link.
   */
  certificates?: boolean;
  /** Index of the first template in the whole simulation, so that no two workers use the same addresses. */
  firstIndex: number;
  log: Logger;
  /** Called with warnings about single hosts or Pods. */
  warn?: (text: string) => void;
}

/** Shared by all hosts of a fleet. */
interface Shared {
  coordinator: TrustedCoordinator & { bearer: string };
  tls: Pick<ResumingTls, 'connect'>;
  connections: HttpsAgent;
}

export class SimulatedNodeFleet {
  readonly #options: SimulatedNodeFleetOptions;
  readonly #nodes: SimulatedNode[] = [];
  readonly #clock = monotonicClock(systemClock);
  /** Has its own clock. If ten thousand hosts reconnected in one turn of the event loop, all would time out. */
  readonly #connects = new TimeSlice(monotonicClock(systemClock));
  readonly #warnings: WarningLimiter | undefined;
  #isStopping = false;

  constructor(options: SimulatedNodeFleetOptions) {
    this.#options = options;
    this.#warnings = options.warn && new WarningLimiter(options.warn);
  }

  /** Resolves when every host has connected or timed out. Throws `EnrolError` for a rejected host. */
  async start(): Promise<void> {
    const { server, token, templates } = this.#options;
    const coordinator = await trustCoordinator(server, token);
    const connections = new HttpsAgent({ keepAlive: true, maxSockets: JOINING_AT_ONCE });
    const shared: Shared = {
      coordinator,
      tls: withoutCertificates(new ResumingTls(createSecureContext({ ca: coordinator.ca }))),
      connections,
    };
    const waiting = templates.entries();
    const joinNext = async (): Promise<void> => {
      for (const [index, template] of waiting) {
        if (this.#isStopping) return;
        await this.#joinAndStart(template, index, shared);
      }
    };
    try {
      await Promise.all(Array.from({ length: JOINING_AT_ONCE }, joinNext));
    } finally {
      connections.destroy();
    }
  }

  /** Stops all agents and closes their connections. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  /** Returns the hosts that the query selects. */
  select(query: NodeQuery): SimulatedNode[] {
    return this.#nodes.filter(query);
  }

  counts(): NodeCounts {
    const sum = { live: 0, refused: 0, pods: 0, running: 0 };
    for (const node of this.#nodes) {
      const { live, refused, pods, running } = node.counts();
      sum.live += live;
      sum.refused += refused;
      sum.pods += pods;
      sum.running += running;
    }
    return sum;
  }

  async #joinAndStart(
    template: NodeTemplate,
    index: number,
    { coordinator, tls, connections }: Shared,
  ): Promise<void> {
    const { server, bearer } = coordinator;
    const { firstIndex, speed, certificates, log } = this.#options;
    const node = template.metadata.name;
    const key = simulatedHostKey(bearer, node);
    const request = { node, csr: await certificateRequest(key, node) };
    const { clusterUID, certificate } = await this.#join(() => register(coordinator, request, connections));
    const others = parseServers(this.#options.server).map((each) => each.server.origin);
    const addresses = new CoordinatorAddresses({ configured: [server.origin, ...others], log });
    const host = new SimulatedNode({
      template: template,
      addresses,
      identity: { key, certificate, ca: coordinator.ca },
      clusterUID,
      // A TLS session belongs to the host whose certificate made it.
      network: new SimulatedHostNetwork(
        certificates ? new ResumingTls() : tls,
        this.#clock,
        localAddress(server, firstIndex + index),
      ),
      address: addressOf(firstIndex + index),
      speed,
      waitToConnect: () => this.#connects.yieldIfUsedUp(),
      clock: this.#clock,
      log,
      warnings: this.#warnings,
    });
    this.#nodes.push(host);
    await this.#untilLive(host);
  }

  /** Retries temporary errors of a busy coordinator: a join may be repeated. Throws `EnrolError`. */
  async #join(register: () => Promise<Registration>): Promise<Registration> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await register();
      } catch (error) {
        const isTemporary = error instanceof JoinError && error.isTemporary && !this.#isStopping;
        if (!isTemporary || attempt === MAX_JOIN_ATTEMPTS) throw error;
        await new Promise<void>((resolve) => void this.#clock.after(REJOIN_DELAY_MS * attempt, resolve));
      }
    }
  }

  async #untilLive(node: SimulatedNode): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = this.#clock.after(CONNECT_TIMEOUT_MS, resolve);
      node
        .start(() => {
          timer.cancel();
          resolve();
        })
        .catch(reject);
    });
  }
}

/** Registers a simulated host. Throws `EnrolError`, also when an operator would have to approve the host. */
async function register(
  coordinator: TrustedCoordinator,
  request: JoinRequest,
  connections: HttpsAgent,
): Promise<Registration> {
  const response = await requestCertificate(coordinator, JOIN_PATH, request, connections);
  if (response.state === 'joined') return response;
  throw new JoinError(response.message, false);
}

/**
 * Connects without a client certificate. All hosts share one TLS session ticket, so TLS cannot identify a host. Each
 * host proves its key inside the link instead.
 */
function withoutCertificates(tls: ResumingTls): Pick<ResumingTls, 'connect'> {
  return { connect: ({ cert: _cert, key: _key, ...options }) => tls.connect(options) };
}

/** On loopback, spreads hosts over its many addresses. Elsewhere the kernel chooses. */
function localAddress(server: URL, index: number): string | undefined {
  if (!server.hostname.startsWith('127.')) return undefined;
  const block = Math.floor(index / SOCKETS_PER_ADDRESS);
  return `127.1.${Math.floor(block / 250)}.${(block % 250) + 1}`;
}

/** Returns an address of 10.0.0.0/8. */
function addressOf(index: number): string {
  const number = index + 1;
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
}
