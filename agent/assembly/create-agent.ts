/** Builds an agent from its dependencies: node status, Pods, engine events and link. */

import { VERSION } from '../../shared/process/release-version.js';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import { podsNeededBy } from '../decisions/handovers/assigned-pod-handover.js';
import { StaticPods } from '../desired/static-pods.js';
import { CoordinatorTime } from '../handovers/coordinator-time.js';
import { NO_UPDATE_LOCK } from '../handovers/update-lock.js';
import type { PrefetchedImages } from '../images/prefetched-images.js';
import type { KubeletRouter } from '../kubelet/kubelet-router.js';
import { Link } from '../link/link.js';
import type { LinkDelegate, LinkServiceHandler } from '../link/link-delegate.js';
import { Outbox } from '../link/outbox.js';
import { NodeStatusReporter } from '../node/node-status-reporter.js';
import { StorageLimitWatch } from '../pods/eviction/storage-limit-watch.js';
import type { PodWorkers } from '../pods/pod-workers.js';
import { watchRuntimeEvents } from '../pods/runtime-event-watch.js';
import type { AgentDeps } from './agent-deps.js';
import { type AgentHandovers, createAgentHandovers, isNeededByHandover } from './agent-handovers.js';
import { createAgentImages } from './agent-images.js';
import { createKubeletRouter } from './agent-kubelet.js';
import { createLinkDelegate } from './agent-link-delegate.js';
import { createNodeEventEmitter, emitStartEvents } from './agent-node-events.js';
import { AgentPodReports, createAgentWorkers } from './agent-pod-workers.js';
import { createAgentPressure } from './agent-pressure.js';
import { type AgentServices, createAgentServices } from './agent-services.js';
import { demoteOutageErrors, logEngineChange } from './engine-outage-log.js';

export interface Agent {
  /** To be started in order and stopped in reverse; stopping leaves containers running. */
  components: Component[];
  node: NodeStatusReporter;
  link: Link;
  /** Absent for simulated hosts. */
  services: AgentServices | undefined;
  /** Absent for simulated hosts. */
  kubelet: KubeletRouter | undefined;
}

/** Builds the agent; nothing runs before its components are started. */
export function createAgent(deps: AgentDeps): Agent {
  const log = demoteOutageErrors(deps.log);
  return createAgentWith({ ...deps, log });
}

function createAgentWith(deps: AgentDeps): Agent {
  const { driver, clock, log, cache, journal, wallClock } = deps;
  const outbox = new Outbox({ clock, readWallClock: () => wallClock.now(), ...(journal && { journal }) });
  const emitNodeEvent = createNodeEventEmitter(outbox, deps.settings.nodeName, clock);
  const warn = (reason: string, message: string) => emitNodeEvent('Warning', reason, message);
  const images = createAgentImages({
    driver,
    handling: deps.images,
    pods: () => [...cache.all()].flatMap(podsNeededBy),
    warn,
    clock,
    log,
  });
  const { prefetched } = images;
  const node = createNodeReporter(deps, prefetched, outbox);
  const services = createAgentServices(deps, node, warn);
  const reports = new AgentPodReports(deps, outbox);
  const coordinatorTime = deps.coordinatorTime ?? timeInMemory(deps, node);
  const workers = createAgentWorkers(
    { ...deps, coordinatorTime },
    images.images,
    node,
    reports,
    services?.dns,
  );
  const handovers = createHandovers({ ...deps, coordinatorTime }, { prefetched, workers, node, outbox });
  reports.onPod((report) => handovers.onPodReported(report));
  reports.onPod((report) => services?.table.onPodReported(report));
  const kubelet = createKubeletRouter(deps, node);
  const statics = createStaticPods(deps, workers, outbox);
  const onNodeLabels = (labels: Record<string, string>) => services?.table.onNodeLabels(labels);
  const link = createLink(
    deps,
    node,
    createLinkDelegate({ ...deps, workers, prefetched, node, handovers, warn, onNodeLabels, kubelet }),
    outbox,
    services?.table,
  );
  const listeners = [node.onRuntimeEvent.bind(node), workers.onRuntimeEvent.bind(workers)];
  const watch = watchRuntimeEvents(driver, listeners, clock, log.child({ component: 'runtime' }));
  const components: Component[] = [
    { name: 'node', start: () => node.start(), stop: () => node.stop() },
    handovers.bootComponent,
    ...(services?.components ?? []),
    { name: 'static pods', start: () => statics?.start(), stop: () => statics?.stop() },
    { name: 'pods', start: () => workers.start(), stop: () => workers.stop() },
    // The hello lists containers that only the engine knows, so it waits for the first inspection of the engine.
    { name: 'engine events', start: () => watch.firstEvent, stop: () => watch.stop() },
    handovers.component,
    { name: 'link', start: () => link.start(), stop: () => link.stop() },
    ...images.components,
    ...createEvictionWatches(deps, workers, node, warn, images.removeUnused),
    { name: 'start events', start: () => emitStartEvents(emitNodeEvent, deps.previousExit) },
  ];
  return { components, node, link, services, kubelet };
}

/** Returns the watches that evict Pods: for their own storage limits, and for pressure on the host. */
function createEvictionWatches(
  deps: AgentDeps,
  workers: PodWorkers,
  node: NodeStatusReporter,
  warn: (reason: string, message: string) => void,
  removeUnusedImages: (() => Promise<void>) | undefined,
): Component[] {
  const { cache: pods, pressure: handling } = deps;
  const storage = new StorageLimitWatch({ ...deps, pods, workers });
  const watch = { name: 'storage limits', start: () => storage.start(), stop: () => storage.stop() };
  if (!handling) return [watch];
  const reclaim = removeUnusedImages ? { removeUnusedImages } : {};
  return [watch, createAgentPressure({ ...deps, handling, pods, workers, node, warn, ...reclaim })];
}

function createNodeReporter(
  deps: AgentDeps,
  prefetched: PrefetchedImages,
  outbox: Outbox,
): NodeStatusReporter {
  return new NodeStatusReporter({
    nodeName: deps.settings.nodeName,
    agentVersion: VERSION,
    driver: deps.driver,
    readHost: deps.readHost,
    transformStatus: (status) => {
      const images = prefetched.present()?.map(({ image, ...size }) => ({ names: [image], ...size }));
      const complete = images ? { ...status, images } : status;
      return deps.amendStatus?.(complete) ?? complete;
    },
    onChange: (status) => outbox.putNode(status),
    onEngineChange: (health) => logEngineChange(health, deps.log),
    clock: deps.clock,
    wallClock: deps.wallClock,
  });
}

function timeInMemory({ clock, log }: AgentDeps, { host: { bootMark } }: NodeStatusReporter) {
  return CoordinatorTime.inMemory({ bootMark, uptimeMs: () => clock.monotonic() }, log);
}

function createHandovers(
  host: AgentDeps & { coordinatorTime: CoordinatorTime },
  parts: { prefetched: PrefetchedImages; workers: PodWorkers; node: NodeStatusReporter; outbox: Outbox },
): AgentHandovers {
  const { cache, config, clock, log } = host;
  const { prefetched, workers, node, outbox } = parts;
  const { bootMark } = node.host;
  return createAgentHandovers({
    cache,
    prefetched,
    workers,
    findConfig: (reference) => config.find(reference),
    updateLock: host.updateLock ?? NO_UPDATE_LOCK,
    time: host.coordinatorTime,
    engineUpSince: () => node.engineUpSince,
    reportHandover: (handover) => outbox.putHandover(handover),
    onSettled: () => config.dropUnneeded(isNeededByHandover(cache)),
    bootMark,
    clock,
    log,
  });
}

function createLink(
  deps: AgentDeps,
  node: NodeStatusReporter,
  delegate: LinkDelegate,
  outbox: Outbox,
  services: LinkServiceHandler | undefined,
): Link {
  const { target, certificates, cost, load, clock, random, log } = deps;
  return new Link({
    target,
    identity: {
      node: deps.settings.nodeName,
      bootID: node.host.bootID,
      instanceID: random.uuid(),
      agentVersion: VERSION,
    },
    delegate,
    outbox,
    ...(certificates ? { certificates } : {}),
    ...(services ? { services } : {}),
    ...(deps.serving ? { serving: deps.serving } : {}),
    ...(cost ? { cost } : {}),
    ...(load ? { load } : {}),
    clock,
    log: log.child({ component: 'link' }),
    random: random.random,
    readWallClock: () => deps.wallClock.now(),
  });
}

function createStaticPods(deps: AgentDeps, workers: PodWorkers, outbox: Outbox): StaticPods | undefined {
  const { manifests, settings, cache, clock, log } = deps;
  if (manifests === undefined) return undefined;
  return new StaticPods({
    directory: manifests,
    nodeName: settings.nodeName,
    cache,
    onChange: (set, gone) => workers.update(set, gone),
    onMirrors: (mirrors) => outbox.putMirrors(mirrors),
    clock,
    log: log.child({ component: 'static pods' }),
  });
}
