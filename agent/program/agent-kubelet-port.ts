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

interface KubeletPort {
  certificate: ServingCertificate;
  /** To be started before the link. */
  component: Component;
}

/**
 * Returns the port; undefined if it is off. It opens when the host has its certificate. If it cannot be opened, the
 * agent logs why and continues without it. `agentOf` returns the agent, which is running by then.
 */
export function createKubeletPort(deps: KubeletPortDeps, agentOf: () => Agent): KubeletPort | undefined {
  const { settings, engine, identity, clock } = deps;
  const port = portOf(settings, engine);
  if (port === 0) return undefined;
  const log = deps.log.child({ component: 'kubelet port' });
  let server: Promise<KubeletServer> | undefined;
  let isStopped = false;
  let latest: ServingIdentity | undefined;
  let retry: Timer | undefined;
  const open = async (): Promise<void> => {
    const serving = latest;
    if (isStopped || !serving) return;
    server ??= createServer(deps, port, agentOf(), log);
    const opened = await server;
    const wasOpen = opened.port !== undefined;
    await opened.serve(serving);
    if (wasOpen) return;
    agentOf().node.setKubeletPort(opened.port);
    log.info({ port: opened.port }, "the kubelet's port is open");
  };
  // One after another: a renewal during the first listen would try to listen a second time.
  let opening: Promise<void> = Promise.resolve();
  let lastReason = '';
  const openInTurn = (): void => {
    opening = opening.then(open).catch((error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'another program uses it' : error.message;
      const line = settings.kubeletPort === 'auto' ? log.info : log.warn;
      if (reason !== lastReason)
        line({ port, reason }, "the kubelet's port is not served; choose another with --kubelet-port");
      lastReason = reason;
      if (!isStopped) retry = clock.after(RETRY_MS, openInTurn);
    });
  };
  const certificate = new ServingCertificate({
    ...{ identity, clock, log },
    dataDir: settings.data,
    addresses: () => [agentOf().node.host.address ?? []].flat(),
    onCertificate: (serving) => {
      latest = serving;
      retry?.cancel();
      openInTurn();
    },
  });
  return {
    certificate,
    component: {
      name: "kubelet's port",
      start: () => certificate.start(),
      stop: async () => {
        isStopped = true;
        retry?.cancel();
        certificate.stop();
        await opening;
        await (await server)?.stop();
      },
    },
  };
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
