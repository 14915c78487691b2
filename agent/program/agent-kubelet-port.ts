/** Connects the kubelet's port with the agent: its certificate, its callers, and the port in the Node's status. */
import type { Logger } from '../../shared/process/output/logger.js';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import { type Clock, systemClock, type Timer } from '../../shared/process/time/clock.js';
import type { Agent } from '../assembly/create-agent.js';
import type { PostToCoordinator } from '../identity/coordinator-post.js';
import type { HostIdentity } from '../identity/host-identity.js';
import { kubeletReviewer } from '../identity/kubelet-reviews.js';
import { ServingCertificate } from '../identity/serving-certificate.js';
import type { KubeletServer, ServingIdentity } from '../kubelet/port/kubelet-server.js';
import type { AgentSettings } from './agent-settings.js';
import { portOf } from './kubelet-settings.js';

/** Another program may free the port. */
const RETRY_MS = 60_000;

interface KubeletPortDeps {
  settings: AgentSettings;
  /** `docker`, `podman` or `hollow`. */
  engine: string;
  identity: HostIdentity;
  post: PostToCoordinator;
  clock: Clock;
  log: Logger;
}

/** Returns the port; undefined if it is off. `agentOf` returns the agent, which is running by the port's start. */
export function createKubeletPort(deps: KubeletPortDeps, agentOf: () => Agent): KubeletPort | undefined {
  const port = portOf(deps.settings, deps.engine);
  return port === 0 ? undefined : new KubeletPort(port, deps, agentOf);
}

/**
 * A component to be started before the link. The port opens when the host has its certificate. If it cannot be opened,
 * the agent logs why, continues without it and tries again.
 */
class KubeletPort implements Component {
  readonly name = "kubelet's port";
  readonly certificate: ServingCertificate;
  readonly #port: number;
  readonly #deps: KubeletPortDeps;
  readonly #agentOf: () => Agent;
  readonly #log: Logger;
  #server: Promise<KubeletServer> | undefined;
  #serving: ServingIdentity | undefined;
  #retry: Timer | undefined;
  #isStopped = false;
  #lastReason = '';
  /** One after another: a renewal during the first listen would try to listen a second time. */
  #opening: Promise<void> = Promise.resolve();

  constructor(port: number, deps: KubeletPortDeps, agentOf: () => Agent) {
    const { identity, clock, settings } = deps;
    this.#port = port;
    this.#deps = deps;
    this.#agentOf = agentOf;
    this.#log = deps.log.child({ component: 'kubelet port' });
    this.certificate = new ServingCertificate({
      ...{ identity, clock, log: this.#log },
      dataDir: settings.data,
      addresses: () => [agentOf().node.host.address ?? []].flat(),
      onCertificate: (serving) => {
        this.#serving = serving;
        this.#retry?.cancel();
        this.#openInTurn();
      },
    });
  }

  start(): Promise<void> {
    return this.certificate.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#retry?.cancel();
    this.certificate.stop();
    await this.#opening;
    await (await this.#server)?.stop();
  }

  #openInTurn(): void {
    this.#opening = this.#opening
      .then(() => this.#open())
      .catch((error: NodeJS.ErrnoException) => {
        this.#logFailure(error.code === 'EADDRINUSE' ? 'another program uses it' : error.message);
        if (!this.#isStopped) this.#retry = this.#deps.clock.after(RETRY_MS, () => this.#openInTurn());
      });
  }

  async #open(): Promise<void> {
    const serving = this.#serving;
    if (this.#isStopped || !serving) return;
    this.#server ??= createServer(this.#deps, this.#port, this.#agentOf(), this.#log);
    const server = await this.#server;
    const wasOpen = server.port !== undefined;
    await server.serve(serving);
    if (wasOpen) return;
    this.#agentOf().node.setKubeletPort(server.port);
    this.#log.info({ port: server.port }, "the kubelet's port is open");
  }

  /** Logs each reason once. */
  #logFailure(reason: string): void {
    if (reason === this.#lastReason) return;
    this.#lastReason = reason;
    const text = "the kubelet's port is not served; choose another with --kubelet-port";
    const level = this.#deps.settings.kubeletPort === 'auto' ? 'info' : 'warn';
    this.#log[level]({ port: this.#port, reason }, text);
  }
}

/** Loads the server on demand: hosts without the port need no memory for it. */
async function createServer(
  { settings, post, clock }: KubeletPortDeps,
  port: number,
  { kubelet: pages }: Agent,
  log: Logger,
): Promise<KubeletServer> {
  if (!pages) throw new Error('this agent has no pages of a kubelet');
  const [{ KubeletServer }, { KubeletAccessControl }] = await Promise.all([
    import('../kubelet/port/kubelet-server.js'),
    import('../kubelet/port/kubelet-access.js'),
  ]);
  const access = new KubeletAccessControl(settings.nodeName, kubeletReviewer(post), clock);
  return new KubeletServer({ port, pages, access, clock, wallClock: systemClock, log });
}
