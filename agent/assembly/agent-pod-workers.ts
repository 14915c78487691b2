/** Connects the workers of one host's Pods with its cache, engine and facts. */
import { ROOT_CA_CONFIG_MAP } from '../../shared/kube/access/service-account-token.js';
import type { ConfigMap } from '../../shared/kube/objects/config-types.js';
import type { ConfigReference } from '../../shared/kube/pods/config-reference.js';
import type { PodReport, RemovedPod, ReportedEvent } from '../../shared/link/messages/link-messages.js';
import { hostIsolation } from '../decisions/admission/host-isolation.js';
import type { ClusterDnsState } from '../decisions/container-spec/dns-resolver.js';
import { JobRuns } from '../desired/job-runs.js';
import type { ClusterDns } from '../dns/cluster-dns-server.js';
import type { CoordinatorTime } from '../handovers/coordinator-time.js';
import { NO_UPDATE_LOCK } from '../handovers/update-lock.js';
import type { ImagePuller } from '../images/image-puller.js';
import type { Outbox } from '../link/outbox.js';
import type { ProbeCounts } from '../metrics/probe-counts.js';
import type { NodeStatusReporter } from '../node/node-status-reporter.js';
import { forgettingOncePersisted } from '../pods/job-run-record.js';
import type { HostFacts, PodReports, ProbedContainer } from '../pods/pod-worker-deps.js';
import { PodWorkers } from '../pods/pod-workers.js';
import { PodTokenCache } from '../pods/steps/pod-token-cache.js';
import { TerminationBarrier } from '../pods/termination-barrier.js';
import { ContainerProbeHandlers } from '../probes/probe-handlers.js';
import type { AgentDeps } from './agent-deps.js';
import { createCachedPodSource } from './cached-pod-source.js';

/** Forwards the workers' reports to the hub; a Pod's end is delayed until it is on disk. */
export class AgentPodReports implements PodReports {
  readonly #outbox: Outbox;
  readonly #barrier: TerminationBarrier;
  readonly #podCounts: AgentDeps['podCounts'];
  readonly #probes: ProbeCounts | undefined;
  readonly #listeners: ((report: PodReport) => void)[] = [];

  constructor(
    { cache, podCounts, kubelet }: Pick<AgentDeps, 'cache' | 'podCounts' | 'kubelet'>,
    outbox: Outbox,
  ) {
    this.#outbox = outbox;
    this.#barrier = new TerminationBarrier(cache, outbox);
    this.#podCounts = podCounts;
    this.#probes = kubelet?.probes;
  }

  /** Calls the listener before each report of a Pod's status. */
  onPod(listener: (report: PodReport) => void): void {
    this.#listeners.push(listener);
  }

  putPod(report: PodReport): void {
    for (const listener of this.#listeners) listener(report);
    this.#podCounts?.recordReport(report);
    this.#barrier.putPod(report);
  }

  putRemoved(pod: RemovedPod): void {
    this.#podCounts?.forget(pod.uid);
    this.#probes?.forget(pod.uid);
    this.#barrier.putRemoved(pod);
  }

  putEvent(event: ReportedEvent): void {
    this.#outbox.putEvent(event);
  }

  probed(probe: ProbedContainer): void {
    this.#probes?.record(probe);
  }

  putUnknownUids(uids: readonly string[]): void {
    this.#outbox.putUnknownUids(uids);
  }
}

/** Returns the workers of the host's Pods; none runs before `start`. `clusterDns`: absent if it is off. */
export function createAgentWorkers(
  deps: AgentDeps & { coordinatorTime: CoordinatorTime },
  images: ImagePuller,
  node: NodeStatusReporter,
  reports: PodReports,
  clusterDns?: Pick<ClusterDns, 'address'>,
): PodWorkers {
  const { driver, clock, cache } = deps;
  return new PodWorkers(createCachedPodSource(cache, clock), {
    driver,
    images,
    volumes: deps.volumes,
    findConfig: (reference) => deps.config.find(reference) ?? rootAuthority(deps, reference),
    ...(deps.api ? { tokens: new PodTokenCache(deps.api.askToken, clock), apiServer: deps.api.server } : {}),
    handlers: new ContainerProbeHandlers(driver, clock),
    files: deps.files,
    reports,
    clock,
    wallClock: deps.wallClock,
    coordinatorNow: () => deps.coordinatorTime.now(),
    askUpdateLock: (query) => (deps.updateLock ?? NO_UPDATE_LOCK).ask(query),
    jobRuns: forgettingOncePersisted(deps.jobRuns ?? JobRuns.inMemory(deps.clock, deps.log), cache),
    log: deps.log.child({ component: 'pods' }),
    facts: hostFacts(deps, node, clusterDns),
  });
}

/**
 * Returns the API's authority as a ConfigMap. Each host knows it, so the hub need not store and send one for every
 * namespace.
 */
function rootAuthority(
  { api }: AgentDeps,
  { kind, namespace, name }: ConfigReference,
): ConfigMap | undefined {
  if (!api || kind !== 'ConfigMap' || name !== ROOT_CA_CONFIG_MAP) return undefined;
  return { apiVersion: 'v1', kind, metadata: { name, namespace }, data: { 'ca.crt': api.ca() } };
}

/** Called several times per step, so the result is cached until the host or the engine changes. */
function hostFacts(
  deps: AgentDeps,
  node: NodeStatusReporter,
  clusterDns: Pick<ClusterDns, 'address'> | undefined,
): () => HostFacts {
  let of: readonly unknown[] = [];
  let facts: HostFacts | undefined;
  return () => {
    const dnsAddress = clusterDns?.address();
    const now = [node.host, node.engine, node.engineUpSince, node.pressures, dnsAddress];
    if (facts && now.every((each, index) => each === of[index])) return facts;
    of = now;
    facts = {
      nodeName: deps.settings.nodeName,
      ...(node.host.address ? { hostIP: node.host.address } : {}),
      allocatable: node.allocatable,
      engine: deps.engine,
      bootMark: node.host.bootMark,
      resolvers: { host: node.host.resolver, clusterDns: dnsState(clusterDns !== undefined, dnsAddress) },
      engineUpSince: node.engineUpSince,
      pressures: node.pressures,
      isolation: hostIsolation(node.host, node.engine, deps.isolation),
    };
    return facts;
  };
}

function dnsState(isOn: boolean, address: string | undefined): ClusterDnsState {
  if (!isOn) return { state: 'off' };
  return address === undefined ? { state: 'missing' } : { state: 'served', address };
}
