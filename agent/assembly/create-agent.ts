/** One agent without its surroundings: the node's status, its Pods, the engine's events and the link, wired together. */

import { VERSION } from '../../shared/process/release-version.js';
import type { Component } from '../../shared/process/service/program-lifecycle.js';
import { podsNeededBy } from '../decisions/handovers/assigned-pod-handover.js';
import { StaticPods } from '../desired/static-pods.js';
import { CoordinatorTime } from '../handovers/coordinator-time.js';
import { NO_UPDATE_LOCK } from '../handovers/update-lock.js';
import type { PrefetchedImages } from '../images/prefetched-images.js';
import { Link } from '../link/link.js';
import type { LinkDelegate } from '../link/link-delegate.js';
import { NodeStatusReporter } from '../node/node-status-reporter.js';
import { StorageLimitWatch } from '../pods/eviction/storage-limit-watch.js';
import type { PodReports } from '../pods/pod-worker-deps.js';
import type { PodWorkers } from '../pods/pod-workers.js';
import { watchRuntimeEvents } from '../pods/runtime-event-watch.js';
import { TerminationBarrier } from '../pods/termination-barrier.js';
import type { AgentDeps } from './agent-deps.js';
import { type AgentHandovers, createAgentHandovers, isNeededByHandover } from './agent-handovers.js';
import { createAgentImages } from './agent-images.js';
import { createLinkDelegate } from './agent-link-delegate.js';
import { createNodeEventEmitter, emitStartEvents } from './agent-node-events.js';
import { createAgentWorkers } from './agent-pod-workers.js';
import { createAgentPressure } from './agent-pressure.js';
import { demoteOutageErrors, logEngineChange } from './engine-outage-log.js';

export interface Agent {
  /** To start in order and stop in reverse; stopping touches no container. */
  components: Component[];
  node: NodeStatusReporter;
  link: Link;
}

/** Builds the agent; nothing runs before its parts are started. */
export function createAgent(host: AgentDeps): Agent {
  const log = demoteOutageErrors(host.log);
  return createAgentWith({ ...host, log });
}

function createAgentWith(host: AgentDeps): Agent {
  const { driver, clock, log } = host;
  const { nodeName } = host.settings;
  const node = createNodeWatch(host, () => ({ held, link }));
  const reports = podReports(host, () => ({ turns, link }));
  const about = createNodeEventEmitter(reports, nodeName, clock);
  const warn = (reason: string, message: string) => about('Warning', reason, message);
  const {
    images,
    prefetched: held,
    removeUnused,
    components: imageParts,
  } = createAgentImages({
    driver,
    handling: host.images,
    pods: () => [...host.cache.all()].flatMap(podsNeededBy),
    warn,
    clock,
    log,
  });
  const workers = createAgentWorkers(host, { images, node, reports }, () => statics?.reportMirrors());
  const turns = createAgentHandovers({
    cache: host.cache,
    prefetched: held,
    findConfig: (reference) => host.config.find(reference),
    updateLock: host.updateLock ?? NO_UPDATE_LOCK,
    time:
      host.coordinatorTime ??
      CoordinatorTime.inMemory({ bootMark: node.host.bootMark, uptimeMs: () => clock.monotonic() }, log),
    workers: () => workers,
    engineUpSince: () => node.engineUpSince,
    link: () => link,
    reportHandover: (turned) => link.outbox.putHandover(turned),
    onSettled: () => host.config.dropUnneeded(isNeededByHandover(host.cache)),
    bootMark: node.host.bootMark,
    clock,
    log,
  });
  const storage = new StorageLimitWatch({ ...host, pods: host.cache, workers });
  const pressure =
    host.pressure &&
    createAgentPressure({
      ...host,
      handling: host.pressure,
      pods: host.cache,
      workers,
      node,
      ...(removeUnused ? { removeUnusedImages: removeUnused } : {}),
      warn,
    });
  const link = createLink(
    host,
    node,
    createLinkDelegate({ ...host, workers, prefetched: held, node, handovers: turns, warn }),
  );
  const statics = createStaticPods(host, workers, link);
  const listeners = [node.onRuntimeEvent.bind(node), workers.onRuntimeEvent.bind(workers)];
  const watch = watchRuntimeEvents(driver, listeners, clock, log.child({ component: 'runtime' }));
  const parts: Component[] = [
    { name: 'node', start: () => node.start(), stop: () => node.stop() },
    turns.bootComponent,
    { name: 'static pods', start: () => statics?.start(), stop: () => statics?.stop() },
    { name: 'pods', start: () => workers.start(), stop: () => workers.stop() },
    // The hello is to tell of containers that only the engine knows: it waits for the first look.
    { name: 'engine events', start: () => watch.firstEvent, stop: () => watch.stop() },
    turns.component,
    { name: 'link', start: () => link.start(), stop: () => link.stop() },
    ...imageParts,
    { name: 'storage limits', start: () => storage.start(), stop: () => storage.stop() },
    ...(pressure ? [pressure] : []),
    { name: 'announcement', start: () => emitStartEvents(about, host.previousExit) },
  ];
  return { components: parts, node, link };
}

/** Its status tells of the images that are held as well. */
function createNodeWatch(
  host: AgentDeps,
  to: () => { held: PrefetchedImages; link: Link },
): NodeStatusReporter {
  return new NodeStatusReporter({
    nodeName: host.settings.nodeName,
    agentVersion: VERSION,
    driver: host.driver,
    readHost: host.readHost,
    transformStatus: (status) => {
      const images = to()
        .held.present()
        ?.map(({ image, ...size }) => ({ names: [image], ...size }));
      const told = images ? { ...status, images } : status;
      return host.amendStatus?.(told) ?? told;
    },
    onChange: (status) => to().link.outbox.putNode(status),
    onEngineChange: (health) => logEngineChange(health, host.log),
    clock: host.clock,
    wallClock: host.wallClock,
  });
}

function createLink(host: AgentDeps, node: NodeStatusReporter, agent: LinkDelegate): Link {
  const { target, certificates, cost, load, journal, clock, random: chance, log } = host;
  return new Link({
    target,
    identity: {
      node: host.settings.nodeName,
      bootID: node.host.bootID,
      instanceID: chance.uuid(),
      agentVersion: VERSION,
    },
    delegate: agent,
    ...(certificates ? { certificates } : {}),
    ...(cost ? { cost } : {}),
    ...(load ? { load } : {}),
    clock,
    log: log.child({ component: 'link' }),
    random: chance.random,
    readWallClock: () => host.wallClock.now(),
    ...(journal ? { journal } : {}),
  });
}

/** What workers tell, on its way to everyone who needs it. */
function podReports(host: AgentDeps, to: () => { turns: AgentHandovers; link: Link }): PodReports {
  const endings = new TerminationBarrier(host.cache, () => to().link.outbox);
  return {
    putPod: (report) => {
      to().turns.onPodReported(report);
      host.podCounts?.recordReport(report);
      endings.putPod(report);
    },
    putRemoved: (pod) => {
      host.podCounts?.forget(pod.uid);
      endings.putRemoved(pod);
    },
    putEvent: (event) => to().link.outbox.putEvent(event),
    putUnknownUids: (uids) => to().link.outbox.putUnknownUids(uids),
  };
}

function createStaticPods(host: AgentDeps, workers: PodWorkers, link: Link): StaticPods | undefined {
  const { manifests, settings, cache, clock, log } = host;
  if (manifests === undefined) return undefined;
  return new StaticPods({
    directory: manifests,
    nodeName: settings.nodeName,
    cache,
    onChange: (set, gone) => workers.update(set, gone),
    onMirrors: (mirrors) => link.outbox.putMirrors(mirrors),
    clock,
    log: log.child({ component: 'static pods' }),
  });
}
