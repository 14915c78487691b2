/** What the link asks of the rest of the agent, answered from the cache, the workers, the node and the engine. */

import type { StreamRequest } from '../../shared/link/messages/link-messages.js';
import { StreamError } from '../../shared/link/streams/byte-stream.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { ConfigCache } from '../desired/config-object-cache.js';
import type { DesiredCache } from '../desired/desired-cache.js';
import type { PrefetchedImages } from '../images/prefetched-images.js';
import type { LinkDelegate } from '../link/link-delegate.js';
import { readHostCounters } from '../node/host-counters.js';
import { standardLabels } from '../node/node-labels-and-taints.js';
import type { NodeStatusReporter } from '../node/node-status-reporter.js';
import type { PodWorkers } from '../pods/pod-workers.js';
import type { AgentSettings } from '../program/agent-settings.js';
import type { RuntimeDriver } from '../runtime/runtime-driver.js';
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
  /** Tells an Event of the Node. */
  warn: (reason: string, message: string) => void;
  /** Called at each welcome. */
  onLive?: () => void;
  /** Called when the link breaks or is refused, with why. */
  onFailed?: (reason: string) => void;
  log: Logger;
}

/** The agent as the link sees it. */
export function createLinkDelegate(parts: AgentLinkDelegateDeps): LinkDelegate {
  const {
    settings,
    cache,
    config,
    workers,
    prefetched: held,
    node,
    handovers: turns,
    driver,
    clock,
    wallClock,
    log,
  } = parts;
  const usage = new UsageMeter({ driver, readNode: readHostCounters, clock, wallClock });
  const heardTime = (hubTimeMs: number): void => {
    turns.onCoordinatorTime(hubTimeMs);
    workers.onCoordinatorTime(hubTimeMs);
  };
  return {
    resumePoint: () => ({
      ...cache.position(),
      objects: [
        ...cache.have(),
        ...config.have(),
        ...workers.orphanedUids().map((uid): [string, string] => [uid, '']),
      ],
    }),
    registration: () => {
      const { operatingSystem, architecture } = node.host;
      const standard = standardLabels(settings.nodeName, operatingSystem, architecture);
      return { labels: { ...standard, ...settings.labels }, taints: [...settings.taints] };
    },
    nodeStatus: () => node.status(),
    apply: async (change) => {
      const given = config.apply(change, isNeededByHandover(cache));
      const durable = Promise.all([given.durable, cache.apply(change)]);
      // Containers may start while the disk is still busy: after a power cut the engine tells of them.
      workers.update(
        change.set.map(({ uid }) => uid),
        change.unassigned,
      );
      workers.onConfigChanged(given.changed);
      turns.onPodsChanged();
      await durable.catch((error: unknown) => notKept(parts, error));
    },
    prefetchImages: (images) => {
      held.prefetch(images, () => node.refresh());
      node.refresh();
    },
    returnObject: (uid) => cache.returnObject(uid),
    openStream: (request, input, signal) => openStream(parts, usage, request, input, signal),
    onHandoversAcknowledged: (uids) => turns.onAcknowledged(uids),
    assignedUids: () =>
      [...cache.all()]
        .map(({ uid }) => uid)
        .concat(
          config.have().map(([uid]) => uid),
          workers.orphanedUids(),
        ),
    onFailed: (reason) => {
      turns.onLinkFailed(reason);
      parts.onFailed?.(reason);
    },
    onLive: ({ clusterUID, serverTimeMs }) => {
      log.info({ clusterUID }, 'connected to the coordinator');
      workers.resendRemoved();
      turns.onWelcome();
      heardTime(serverTimeMs);
      parts.onLive?.();
    },
    onCoordinatorTime: heardTime,
    onLost: (reason) => log.warn({ reason }, 'lost the coordinator; pods go on'),
    onEnded: (reason) =>
      log.error({ reason }, 'the coordinator will not be asked again until this agent restarts'),
  };
}

/**
 * A disk that is full or read-only costs what was given its place on it, not the link: by that comes what helps. In memory it is in
 * force; the caches write it as soon as they can. Throws what is no error of the disk.
 */
function notKept({ config, clock, warn, log }: AgentLinkDelegateDeps, error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  log.error({ code }, 'what this host was given is in memory alone: the disk takes no writes');
  warn(
    'DesiredStateNotPersisted',
    `What this node was given would not survive a reboot: the disk answers ${code}`,
  );
  config.scheduleRewrite(clock);
}

/** Opens what a reader asks for. Throws `StreamError`. */
async function openStream(
  { driver, wallClock }: AgentLinkDelegateDeps,
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
  }
}

async function* asJson(value: object): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(JSON.stringify(value));
}
