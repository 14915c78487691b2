/** One agent without its surroundings: the node's status, its Pods, the engine's events and the link, wired together. */

import { ROOT_CA_CONFIG_MAP } from '../shared/kube/account-token.js';
import type { ConfigMap } from '../shared/kube/config.js';
import type { ConfigReference } from '../shared/kube/config-reference.js';
import { toTimestamp } from '../shared/kube/meta.js';
import type { NodeStatus } from '../shared/kube/node.js';
import type { BeatReading } from '../shared/link/beat-reading.js';
import type { ReportedEvent } from '../shared/link/messages.js';
import type { Chance } from '../shared/process/chance.js';
import type { Clock } from '../shared/process/clock.js';
import type { Part } from '../shared/process/lifecycle.js';
import type { Logger } from '../shared/process/log.js';
import { VERSION } from '../shared/process/version.js';
import { createAgentImages, type ImageHandling } from './agent-images.js';
import { createAgentPressure, type PressureHandling } from './agent-pressure.js';
import { createAgentSide } from './agent-side.js';
import { createAgentTurns, isNeededByTurn } from './agent-turns.js';
import type { HeldPod } from './decisions/held-pod.js';
import { heldAfterClearing, podsNeededBy, runs } from './decisions/held-turn.js';
import { hostIsolation, type IsolationSettings } from './decisions/host-isolation.js';
import type { ConfigCache } from './desired/config-cache.js';
import type { DesiredCache } from './desired/desired-cache.js';
import type { ManifestDirectory } from './desired/manifest-directory.js';
import { StaticPods } from './desired/static-pods.js';
import type { Images } from './images/images.js';
import type { Journal } from './link/journal.js';
import { Link } from './link/link.js';
import type { LinkCertificates } from './link/link-certificates.js';
import type { LinkTarget } from './link/link-target.js';
import type { PodCounts } from './metrics/pod-counts.js';
import type { HostInfo } from './node/host-info.js';
import { allocatableOf } from './node/node-status.js';
import { NodeWatch } from './node/node-watch.js';
import type { ProcessCost } from './node/process-cost.js';
import { AccountTokens, type AskToken } from './pods/account-tokens.js';
import type { PodFiles } from './pods/pod-files.js';
import type { HostFacts, PodReports, PodSource, PodVolumes } from './pods/pod-host.js';
import { PodWorkers } from './pods/pod-workers.js';
import { watchRuntime } from './pods/runtime-watch.js';
import { StorageWatch } from './pods/storage-watch.js';
import { ContainerHandlers } from './probes/handlers.js';
import type { LastEnd } from './run-marker.js';
import type { RuntimeDriver } from './runtime/driver.js';
import type { AgentSettings } from './settings.js';
import { HeardTime } from './turns/heard-time.js';
import { type LocalHold, NEVER_HELD } from './turns/local-hold.js';

/** What an agent stands on: a real host's, or one that is pretended. */
export interface AgentHost {
  settings: Pick<AgentSettings, 'nodeName' | 'labels' | 'taints'>;
  target: LinkTarget;
  /** Absent for hosts that pretend. */
  certificates?: LinkCertificates;
  driver: RuntimeDriver;
  /** `docker`, `podman` or `hollow`. */
  engine: string;
  cache: DesiredCache;
  config: ConfigCache;
  volumes: PodVolumes;
  /** Asks for Pods' tokens, and where Pods reach the API; absent for hosts that pretend. */
  api?: { askToken: AskToken; server: URL; ca: () => string };
  isolation: IsolationSettings;
  files: PodFiles;
  images: ImageHandling;
  /** Absent for hosts that pretend: they are short of nothing. */
  pressure?: PressureHandling;
  /** Directory of static Pods' manifests; absent for hosts that pretend. */
  manifests?: ManifestDirectory;
  readHost: () => HostInfo;
  /** Who on the host may say 'not now'; absent: nobody. */
  hold?: LocalHold;
  /** Absent: known to this process alone. */
  heardTime?: HeardTime;
  /** Changes the status before it is told; a real host's is told as it is. */
  amendStatus?: (status: NodeStatus) => NodeStatus;
  /** Counts Pods by what is told of them; absent: nobody asks. */
  podCounts?: Pick<PodCounts, 'reported' | 'removed'>;
  /** What the agent's process costs the host; absent for hosts that pretend. */
  cost?: () => ProcessCost;
  /** How busy the host is, for its beats. */
  load?: () => BeatReading;
  /** Keeps what happens while nobody can be told; absent for hosts that pretend. */
  journal?: Journal;
  /** How the agent before this one came to its end; absent: it was stopped. */
  lastEnd?: LastEnd;
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
    amend: (status) => {
      const images = held.here()?.map(({ image, ...size }) => ({ names: [image], ...size }));
      const told = images ? { ...status, images } : status;
      return host.amendStatus?.(told) ?? told;
    },
    onChange: (status) => link.outbox.putNode(status),
    clock,
    wallClock: host.wallClock,
  });
  const reports: PodReports = {
    putPod: (report) => {
      turns.reported(report);
      host.podCounts?.reported(report);
      link.outbox.putPod(report);
    },
    putRemoved: (pod) => {
      host.podCounts?.removed(pod.uid);
      const tell = () => link.outbox.putRemoved(pod);
      // Told before its deletion is on disk, an agent killed now would start it again. A disk that fails keeps nobody waiting.
      host.cache.flush().then(tell, tell);
    },
    putEvent: (event) => link.outbox.putEvent(event),
    putFound: (uids) => link.outbox.putFound(uids),
  };
  const about = nodeEvents(reports, nodeName, clock);
  const {
    images,
    held,
    removeUnused,
    parts: imageParts,
  } = createAgentImages({
    driver,
    handling: host.images,
    pods: () => [...host.cache.all()].flatMap(podsNeededBy),
    warn: (reason, message) => about('Warning', reason, message),
    clock,
    log,
  });
  const workers = createWorkers(host, images, node, reports, () => statics?.tell());
  const turns = createAgentTurns({
    cache: host.cache,
    held,
    findConfig: (reference) => host.config.find(reference),
    hold: host.hold ?? NEVER_HELD,
    time:
      host.heardTime ??
      HeardTime.inMemory({ bootMark: node.host.bootMark, uptimeMs: () => clock.monotonic() }, log),
    workers: () => workers,
    engineUpSince: () => node.engineUpSince,
    link: () => link,
    putTurned: (turned) => link.outbox.putTurned(turned),
    onSettled: () => host.config.dropOverdue(isNeededByTurn(host.cache)),
    bootMark: node.host.bootMark,
    clock,
    log,
  });
  const storage = new StorageWatch({ ...host, pods: host.cache, workers });
  const pressure =
    host.pressure &&
    createAgentPressure({
      ...host,
      handling: host.pressure,
      pods: host.cache,
      workers,
      node,
      ...(removeUnused ? { removeUnusedImages: removeUnused } : {}),
      warn: (reason, message) => about('Warning', reason, message),
    });
  const link: Link = new Link({
    target: host.target,
    identity: {
      node: nodeName,
      bootID: node.host.bootID,
      instanceID: host.chance.uuid(),
      agentVersion: VERSION,
    },
    agent: createAgentSide({
      ...{ ...host, workers, held, node, turns },
      warn: (reason, message) => about('Warning', reason, message),
    }),
    ...(host.certificates ? { certificates: host.certificates } : {}),
    ...(host.cost ? { cost: host.cost } : {}),
    ...(host.load ? { load: host.load } : {}),
    clock,
    log: log.child({ component: 'link' }),
    random: host.chance.random,
    wallNow: () => host.wallClock.now(),
    ...(host.journal ? { journal: host.journal } : {}),
  });
  const statics = createStaticPods(host, workers, link);
  const listeners = [node.onRuntimeEvent.bind(node), workers.onRuntimeEvent.bind(workers)];
  const watch = watchRuntime(driver, listeners, clock, log.child({ component: 'runtime' }));
  const parts: Part[] = [
    { name: 'node', start: () => node.start(), stop: () => node.stop() },
    turns.bootPart,
    { name: 'static pods', start: () => statics?.start(), stop: () => statics?.stop() },
    { name: 'pods', start: () => workers.start(), stop: () => workers.stop() },
    // The hello is to tell of containers that only the engine knows: it waits for the first look.
    { name: 'engine events', start: () => watch.firstEvent, stop: () => watch.stop() },
    turns.part,
    { name: 'link', start: () => link.start(), stop: () => link.stop() },
    ...imageParts,
    { name: 'storage limits', start: () => storage.start(), stop: () => storage.stop() },
    ...(pressure ? [pressure] : []),
    { name: 'announcement', start: () => announce(about, host.lastEnd) },
  ];
  return { parts, node, link };
}

/** As a kubelet says of itself when it starts, and what became of the agent before. */
function announce(about: ReturnType<typeof nodeEvents>, lastEnd: LastEnd = 'stopped'): void {
  if (lastEnd === 'crashed') {
    about('Warning', 'AgentCrashed', 'The agent crashed or was killed, and was started again; pods ran on.');
  }
  about('Normal', 'Starting', 'Starting kubelet.');
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
  const asRun = (held: HeldPod | undefined) => held && runs(held);
  const change = async (uid: string, next: (held: HeldPod) => HeldPod) => {
    const held = cache.get(uid);
    if (held) await cache.put(next(held));
  };
  const source: PodSource = {
    get: (uid) => asRun(cache.get(uid)),
    all: () => [...cache.all()].map(runs),
    giveUp: (uid, end) => asRun(cache.giveUp(uid, end)),
    ended: (uid) => change(uid, (held) => ({ ...held, ended: true })).catch(() => undefined),
    cleared: async (uid) => {
      // Not on disk, it is cleared once more by the next agent.
      await change(uid, heldAfterClearing).catch(() => undefined);
      return asRun(cache.get(uid));
    },
    forget: (uid) => {
      cache.forget(uid);
      onForgotten();
    },
  };
  return new PodWorkers(source, {
    driver,
    images,
    volumes: host.volumes,
    findConfig: (reference) => host.config.find(reference) ?? rootAuthority(host, reference),
    ...(host.api ? { tokens: new AccountTokens(host.api.askToken, clock), apiServer: host.api.server } : {}),
    handlers: new ContainerHandlers(driver, clock),
    files: host.files,
    reports,
    clock,
    log: host.log.child({ component: 'pods' }),
    facts: hostFacts(host, node),
  });
}

/** The authority of the API, which each host knows: no object of that name has to be kept in every namespace. */
function rootAuthority(
  { api }: AgentHost,
  { kind, namespace, name }: ConfigReference,
): ConfigMap | undefined {
  if (!api || kind !== 'ConfigMap' || name !== ROOT_CA_CONFIG_MAP) return undefined;
  return { apiVersion: 'v1', kind, metadata: { name, namespace }, data: { 'ca.crt': api.ca() } };
}

/** Asked for several times a step, and worked out once for each reading of the host and the engine. */
function hostFacts(host: AgentHost, node: NodeWatch): () => HostFacts {
  let of: readonly unknown[] = [];
  let facts: HostFacts | undefined;
  return () => {
    const now = [node.host, node.engine, node.engineUpSince, node.pressures];
    if (facts && now.every((each, index) => each === of[index])) return facts;
    of = now;
    facts = {
      nodeName: host.settings.nodeName,
      ...(node.host.address ? { hostIP: node.host.address } : {}),
      allocatable: allocatableOf(node.host),
      engine: host.engine,
      bootMark: node.host.bootMark,
      resolver: node.host.resolver,
      engineUpSince: node.engineUpSince,
      pressures: node.pressures,
      isolation: hostIsolation(node.host, node.engine, host.isolation),
    };
    return facts;
  };
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
