/** One agent without its surroundings: the node's status, its Pods, the engine's events and the link, wired together. */
import { toTimestamp } from '../shared/kube/meta.js';
import type { NodeStatus } from '../shared/kube/node.js';
import type { ReportedEvent } from '../shared/link/messages.js';
import type { Chance } from '../shared/process/chance.js';
import type { Clock } from '../shared/process/clock.js';
import type { Part } from '../shared/process/lifecycle.js';
import type { Logger } from '../shared/process/log.js';
import { VERSION } from '../shared/process/version.js';
import { createAgentImages, type ImageHandling } from './agent-images.js';
import { createAgentSide } from './agent-side.js';
import { hostIsolation, type IsolationSettings } from './decisions/host-isolation.js';
import type { ConfigCache } from './desired/config-cache.js';
import type { DesiredCache } from './desired/desired-cache.js';
import { StaticPods } from './desired/static-pods.js';
import type { Images } from './images/images.js';
import type { LinkTarget } from './link/connection.js';
import { Link } from './link/link.js';
import type { HostInfo } from './node/host-info.js';
import { allocatableOf } from './node/node-status.js';
import { NodeWatch } from './node/node-watch.js';
import type { PodFiles } from './pods/pod-files.js';
import type { PodReports, PodSource, PodVolumes } from './pods/pod-host.js';
import { PodWorkers } from './pods/pod-workers.js';
import { watchRuntime } from './pods/runtime-watch.js';
import { StorageWatch } from './pods/storage-watch.js';
import { ContainerHandlers } from './probes/handlers.js';
import type { RuntimeDriver } from './runtime/driver.js';
import type { AgentSettings } from './settings.js';

/** What an agent stands on: a real host's, or one that is pretended. */
export interface AgentHost {
  settings: Pick<AgentSettings, 'nodeName' | 'labels' | 'taints'>;
  target: LinkTarget;
  driver: RuntimeDriver;
  /** `docker`, `podman` or `hollow`. */
  engine: string;
  cache: DesiredCache;
  config: ConfigCache;
  volumes: PodVolumes;
  isolation: IsolationSettings;
  files: PodFiles;
  images: ImageHandling;
  /** Directory of static Pods' manifests; absent for hosts that pretend. */
  manifests?: string;
  readHost: () => HostInfo;
  /** Changes the status before it is told; a real host's is told as it is. */
  amendStatus?: (status: NodeStatus) => NodeStatus;
  /** Called at each welcome. */
  onLive?: () => void;
  /** A steady clock. */
  clock: Clock;
  /** The engine's, which may jump. */
  wallClock: Clock;
  chance: Chance;
  log: Logger;
}

export interface Agent {
  /** To start in order and stop in reverse; stopping touches no container. */
  parts: Part[];
  node: NodeWatch;
  link: Link;
}

/** Builds the agent; nothing runs before its parts are started. */
export function createAgent(host: AgentHost): Agent {
  const { driver, clock, log } = host;
  const { nodeName } = host.settings;
  const node = new NodeWatch({
    nodeName,
    agentVersion: VERSION,
    driver,
    readHost: host.readHost,
    ...(host.amendStatus ? { amend: host.amendStatus } : {}),
    onChange: (status) => link.outbox.putNode(status),
    clock,
  });
  const reports: PodReports = {
    putPod: (report) => link.outbox.putPod(report),
    putRemoved: (pod) => {
      const tell = () => link.outbox.putRemoved(pod);
      // Told before its deletion is on disk, an agent killed now would start it again. A disk that fails keeps nobody waiting.
      host.cache.flush().then(tell, tell);
    },
    putEvent: (event) => link.outbox.putEvent(event),
  };
  const about = nodeEvents(reports, nodeName, clock);
  const {
    images,
    held,
    parts: imageParts,
  } = createAgentImages({
    driver,
    handling: host.images,
    pods: () => host.cache.all(),
    warn: (reason, message) => about('Warning', reason, message),
    clock,
    log,
  });
  const workers = createWorkers(host, images, node, reports, () => statics?.tell());
  const storage = new StorageWatch({ ...host, pods: host.cache, workers });
  const link: Link = new Link({
    target: host.target,
    identity: {
      node: nodeName,
      bootID: node.host.bootID,
      instanceID: host.chance.uuid(),
      agentVersion: VERSION,
    },
    agent: createAgentSide({ ...host, workers, held, node }),
    clock,
    log: log.child({ component: 'link' }),
    random: host.chance.random,
  });
  const statics = createStaticPods(host, workers, link);
  const listeners = [node.onRuntimeEvent.bind(node), workers.onRuntimeEvent.bind(workers)];
  const watch = watchRuntime(driver, listeners, clock, log.child({ component: 'runtime' }));
  const parts: Part[] = [
    { name: 'node', start: () => node.start(), stop: () => node.stop() },
    { name: 'static pods', start: () => statics?.start(), stop: () => statics?.stop() },
    { name: 'pods', start: () => workers.start(), stop: () => workers.stop() },
    // The hello is to tell of containers that only the engine knows: it waits for the first look.
    { name: 'engine events', start: () => watch.firstEvent, stop: () => watch.stop() },
    { name: 'link', start: () => link.start(), stop: () => link.stop() },
    ...imageParts,
    { name: 'storage limits', start: () => storage.start(), stop: () => storage.stop() },
    // As a kubelet says of itself when it starts.
    { name: 'announcement', start: () => about('Normal', 'Starting', 'Starting kubelet.') },
  ];
  return { parts, node, link };
}

function createStaticPods(host: AgentHost, workers: PodWorkers, link: Link): StaticPods | undefined {
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

function createWorkers(
  host: AgentHost,
  images: Images,
  node: NodeWatch,
  reports: PodReports,
  onForgotten: () => void,
): PodWorkers {
  const { driver, clock, cache } = host;
  const source: PodSource = {
    get: (uid) => cache.get(uid),
    all: () => cache.all(),
    giveUp: (uid, end) => cache.giveUp(uid, end),
    forget: (uid) => {
      cache.forget(uid);
      onForgotten();
    },
  };
  return new PodWorkers(source, {
    driver,
    images,
    volumes: host.volumes,
    findConfig: (reference) => host.config.find(reference),
    handlers: new ContainerHandlers(driver, clock),
    files: host.files,
    reports,
    clock,
    log: host.log.child({ component: 'pods' }),
    facts: () => ({
      nodeName: host.settings.nodeName,
      ...(node.host.address ? { hostIP: node.host.address } : {}),
      allocatable: allocatableOf(node.host),
      engine: host.engine,
      bootMark: node.host.bootMark,
      resolver: node.host.resolver,
      engineUpSince: node.engineUpSince,
      isolation: hostIsolation(node.host, node.engine, host.isolation),
    }),
  });
}

/** Says something of the host's own Node. */
function nodeEvents(
  reports: PodReports,
  name: string,
  clock: Clock,
): (type: ReportedEvent['type'], reason: string, message: string) => void {
  return (type, reason, message) => {
    const time = toTimestamp(clock.now());
    const involvedObject = { kind: 'Node', name, uid: name };
    reports.putEvent({
      involvedObject,
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
    });
  };
}
