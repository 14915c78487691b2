/** Implements the link's delegate with the cache, the workers, the node and the engine. */

import type { StreamRequest } from '../../shared/link/messages/link-messages.js';
import { StreamError } from '../../shared/link/streams/byte-stream.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { ConfigCache } from '../desired/config-object-cache.js';
import type { DesiredCache } from '../desired/desired-cache.js';
import type { PrefetchedImages } from '../images/prefetched-images.js';
import type { KubeletRouter } from '../kubelet/kubelet-router.js';
import type { DesiredChange, LinkDelegate } from '../link/link-delegate.js';
import { readHostCounters } from '../node/host-counters.js';
import { standardLabels, timeZoneLabel } from '../node/node-labels-and-taints.js';
import type { NodeStatusReporter } from '../node/node-status-reporter.js';
import type { PodWorkers } from '../pods/pod-workers.js';
import type { AgentSettings } from '../program/agent-settings.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';
import { openKubeletPage } from '../streams/kubelet-stream.js';
import { openLog } from '../streams/log-stream.js';
import { openPort } from '../streams/port-stream.js';
import { openProcess } from '../streams/process-stream.js';
import { UsageMeter } from '../streams/usage-meter.js';
import { type AgentHandovers, isNeededByHandover } from './agent-handovers.js';

interface AgentLinkDelegateDeps {
  settings: Pick<AgentSettings, 'nodeName' | 'labels' | 'taints'>;
  cache: DesiredCache;
  config: ConfigCache;
  handovers: Pick<
    AgentHandovers,
    'onPodsChanged' | 'onWelcome' | 'onCoordinatorTime' | 'onLinkFailed' | 'onAcknowledged'
  >;
  workers: PodWorkers;
  prefetched: PrefetchedImages;
  node: NodeStatusReporter;
  driver: RuntimeDriver;
  clock: Clock;
  /** The engine's wall clock. */
  wallClock: Clock;
  /** Emits a Warning Event about the Node. */
  warn: (reason: string, message: string) => void;
  /** Absent on simulated hosts. */
  kubelet?: KubeletRouter | undefined;
  /** Called at each welcome with the labels of the host's Node. */
  onNodeLabels?: (labels: Record<string, string>) => void;
  /** Called at each welcome. */
  onLive?: () => void;
  /** Called when the link breaks or is refused, with the reason. */
  onFailed?: (reason: string) => void;
  log: Logger;
}

const SIMULATED = 'this host is simulated: it has no kubelet and no figures of its own';

/** Returns the agent as the link sees it. */
export function createLinkDelegate(deps: AgentLinkDelegateDeps): LinkDelegate {
  const { settings, cache, config, workers, prefetched, node, handovers, log } = deps;
  const usage = new UsageMeter({ ...deps, readNode: readHostCounters });
  const onCoordinatorTime = (hubTimeMs: number): void => {
    handovers.onCoordinatorTime(hubTimeMs);
    workers.onCoordinatorTime(hubTimeMs);
  };
  const orphans = () => workers.orphanedUids();
  return {
    resumePoint: () => ({
      ...cache.position(),
      objects: [
        ...cache.have(),
        ...config.have(),
        ...orphans().map((uid): [uid: string, digest: string] => [uid, '']),
      ],
    }),
    registration: () => {
      const { operatingSystem, architecture, timeZone } = node.host;
      const standard = standardLabels(settings.nodeName, operatingSystem, architecture);
      return {
        labels: { ...standard, ...timeZoneLabel(timeZone), ...settings.labels },
        taints: [...settings.taints],
      };
    },
    nodeStatus: () => node.status(),
    apply: (change) => applyChange(deps, change),
    dropAllPods: (fleet) => {
      workers.stopOrphans();
      const assigned = [...cache.all()].map(({ uid }) => uid);
      const unassigned = [...assigned, ...config.have().map(([uid]) => uid)];
      return applyChange(deps, { set: [], unassigned, revision: cache.position().revision, ...fleet });
    },
    prefetchImages: (images) => {
      prefetched.prefetch(images, () => node.refresh());
      node.refresh();
    },
    returnObject: (uid) => cache.returnObject(uid),
    openStream: (request, input, signal) => openStream(deps, usage, request, input, signal),
    onHandoversAcknowledged: (uids) => handovers.onAcknowledged(uids),
    onFailed: (reasons) => {
      handovers.onLinkFailed(reasons);
      for (const reason of reasons) deps.onFailed?.(reason);
    },
    onLive: ({ clusterUID, serverTimeMs, node: { metadata } }, hub) => {
      const { coordinator } = hub;
      log.info({ clusterUID, ...(coordinator ? { coordinator } : {}) }, 'connected to the coordinator');
      workers.resendRemoved();
      handovers.onWelcome(hub);
      onCoordinatorTime(serverTimeMs);
      deps.onNodeLabels?.(metadata.labels ?? {});
      deps.onLive?.();
    },
    onCoordinatorTime,
    onLost: (reason) => log.warn({ reason }, 'lost the connection to the coordinator; Pods keep running'),
    onEnded: (reason) => log.error({ reason }, 'no further connection attempts until this agent restarts'),
  };
}

/** Applies a change of the desired state. Resolves when the change is on disk, or in memory if the disk fails. */
async function applyChange(deps: AgentLinkDelegateDeps, change: DesiredChange): Promise<void> {
  const { cache, config, workers, handovers } = deps;
  const applied = config.apply(change, isNeededByHandover(cache));
  const durable = Promise.all([applied.durable, cache.apply(change)]);
  // Do not wait for a slow disk: workers act on the state in memory, and after a power cut the engine still lists their
  // containers.
  workers.update(
    change.set.map(({ uid }) => uid),
    change.unassigned,
  );
  workers.onConfigChanged(applied.changed);
  handovers.onPodsChanged();
  await durable.catch((error: unknown) => reportNotPersisted(deps, error));
}

/**
 * If the disk is full or read-only, apply the change in memory and keep the link open: the deletion that frees space
 * can only arrive over the link. The caches retry the write. Rethrows errors of other kinds.
 */
function reportNotPersisted({ config, clock, warn, log }: AgentLinkDelegateDeps, error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  log.error({ code }, 'desired state not persisted: disk is read-only or full');
  warn(
    'DesiredStateNotPersisted',
    `The desired state of this node would not survive a reboot: writing to the disk failed with ${code}`,
  );
  config.scheduleRewrite(clock);
}

/** Opens a stream for a reader. Throws `StreamError`. */
async function openStream(
  { driver, wallClock, kubelet }: AgentLinkDelegateDeps,
  usage: UsageMeter,
  request: StreamRequest,
  input: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  switch (request.type) {
    case 'log': {
      const log = await openLog(driver, request, wallClock, signal);
      if (log.kind === 'refused') throw new StreamError(log.reason, log.message);
      return log.bytes;
    }
    case 'exec':
    case 'attach':
      return openProcess(driver, request, input, signal);
    case 'port':
      return openPort(driver, request, input, signal);
    case 'usage':
      return asJson(await usage.measure());
    case 'kubelet':
      if (!kubelet) throw new StreamError('ServiceUnavailable', SIMULATED);
      return openKubeletPage(kubelet, request);
  }
}

async function* asJson(value: object): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(JSON.stringify(value));
}
