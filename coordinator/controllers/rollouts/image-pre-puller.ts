/**
 * Lets hosts pull the next image before their update, in the order of the waves and up to the policy's limits. State in
 * memory may be lost: it can be restored from annotations and from the images that hosts report.
 */
import {
  compileMaintenanceSchedules,
  nextReplacementTime,
} from '../../../shared/calendar/maintenance-schedule.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError, isNotFound } from '../../../shared/kube/objects/api-status.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { refText } from '../../../shared/kube/objects/meta.js';
import { prePullAnnotation } from '../../../shared/kube/rollouts/pre-pull-annotations.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutPhase } from '../../../shared/kube/rollouts/rollout-types.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { contactOf } from '../../decisions/nodes/node-contact.js';
import {
  hasImages,
  imageBytesOf,
  type PullLine,
  type PullQueued,
  prePullStep,
} from '../../decisions/rollouts/pre-pull-schedule.js';
import { scaledAmount } from '../../decisions/rollouts/wave-plan.js';
import type { ObjectChange } from '../../informers/informer.js';
import { nodeKind } from '../../kinds/index.js';
import type { DaemonSetDeps } from '../daemonsets/daemonset-deps.js';
import type { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import type { WaveIndex } from './wave-index.js';
import { earliest } from './window-index.js';

const DEFAULT_AHEAD_SECONDS = 3600;
const DEFAULT_PARALLEL = 10;
/** Default time after which a pull no longer counts for the limit. */
const DEFAULT_DEADLINE_SECONDS = 600;
/** Delay after a failed write. */
const RETRY_MS = 1_000;

const ACTIVE_PHASES: ReadonlySet<RolloutPhase> = new Set([
  'Progressing',
  'Soaking',
  'AwaitingApproval',
  'AwaitingWindow',
  'AwaitingHosts',
]);

/** The hosts of one site. Without limits for sites, all hosts are one site. */
interface Site extends PullLine {
  queue: PullQueued[];
}

type PrePullDeps = Pick<DaemonSetDeps, 'registry' | 'informers' | 'clock' | 'log'>;

/** The pulls for one revision of a DaemonSet. */
interface Pulls {
  tally: DaemonSetTally;
  policy: string;
  images: string[];
  /** Total size, once a host has reported it. */
  imageBytes?: number | undefined;
  nodes: number;
  sites: Site[];
  /** Hosts that were offline when they were due. */
  offline: Map<string, { queued: PullQueued; site: Site }>;
  /** By node: when its pull times out. */
  running: Map<string, { deadline: number; site: Site }>;
  lastStartAt?: number | undefined;
}

interface PrePullView {
  daemonSet: DaemonSet;
  policy: RolloutPolicy;
  tally: DaemonSetTally;
  waves: WaveIndex;
  phase: RolloutPhase;
}

export class ImagePrePuller {
  readonly #deps: PrePullDeps;
  readonly #pulls = new Map<string, Pulls>();

  /** `moved` is called with the fleet key of a DaemonSet when another host may start its pull. */
  constructor(deps: PrePullDeps, moved: (fleetKey: string) => void) {
    this.#deps = deps;
    deps.informers.nodes.onChange((change) => this.#nodeChanged(change, moved));
  }

  forget(fleetKey: string): void {
    this.#pulls.delete(fleetKey);
  }

  /** Starts pulls up to the limits. Returns when the next one may start without an event, in ms since the epoch. */
  async reconcile(view: PrePullView): Promise<number | undefined> {
    const { daemonSet, policy, phase } = view;
    const key = refText(daemonSet.metadata);
    const { prePull } = policy.spec;
    if (!prePull || !ACTIVE_PHASES.has(phase)) {
      this.forget(key);
      return undefined;
    }
    const pulls = await this.#begin(key, view);
    const now = this.#deps.clock.now();
    const { sites, running, nodes, imageBytes, lastStartAt } = pulls;
    // Deadlines are in insertion order, so the first future one ends the loop.
    for (const [name, { deadline }] of running) {
      if (deadline > now) break;
      endPull(pulls, name);
    }
    const [first] = running.values();
    const { maxParallel = DEFAULT_PARALLEL, bytesPerSecond, perSite } = prePull;
    const { start, requeueAt } = prePullStep({
      ...{
        sites,
        fleet: { running: running.size, lastStartAt },
        imageBytes,
        firstDeadline: first?.deadline,
        now,
      },
      limit: { maxParallel: scaledAmount(maxParallel, nodes, Math.ceil), bytesPerSecond },
      siteLimit: perSite ?? {},
    });
    const deadline = now + deadlineMs(policy);
    const started = start.flatMap(({ site: index }) => {
      const site = sites[index];
      const queued = site?.queue.shift();
      return site && queued ? { site, queued } : [];
    });
    const starts = started.map(({ site, queued }) => this.#start(view, pulls, site, queued, deadline));
    return earliest([requeueAt, ...(await Promise.all(starts))]);
  }

  /** Returns the pulls for this tally and policy. Visits all nodes if they are new. */
  async #begin(key: string, { daemonSet, policy, tally, waves }: PrePullView): Promise<Pulls> {
    const { informers, clock } = this.#deps;
    const version = `${policy.metadata.uid}/${policy.metadata.generation}`;
    const present = this.#pulls.get(key);
    if (present?.tally === tally && present.policy === version) return present;
    const { containers, initContainers = [] } = daemonSet.spec.template.spec;
    // An image with host values differs from host to host.
    const fixed = [...initContainers, ...containers].filter(({ image }) => !image?.includes('$('));
    const images = [...new Set(fixed.map(({ image }) => image))];
    const dueAt = this.#dueTimes(policy);
    const byWave: { name: string; dueAt: number; site: Site }[][] = [];
    const running: Pulls['running'] = new Map();
    const sites = new Map<string, Site>();
    let imageBytes: number | undefined;
    const annotation = prePullAnnotation(daemonSet.metadata.uid ?? '');
    let nodes = 0;
    const slice = new TimeSlice(clock);
    for (const name of tally.nodeNames()) {
      nodes += 1;
      const node = informers.nodes.get({ name });
      imageBytes ??= node && imageBytesOf(node, images);
      if (node && !waves.hasReceived(name) && !hasImages(node, images)) {
        const wave = waves.waveOf(name);
        byWave[wave] ??= [];
        const site = siteOf(policy, node, sites);
        if (node.metadata.annotations?.[annotation] !== images.join()) {
          byWave[wave].push({ name, dueAt: dueAt(node), site });
        } else {
          running.set(name, { deadline: clock.now() + deadlineMs(policy), site });
          site.running += 1;
          // The start time was lost in a restart.
          site.lastStartAt = clock.now();
        }
      }
      await slice.yieldIfUsedUp();
    }
    for (const [order, { site, ...host }] of byWave.flat().entries()) site.queue.push({ ...host, order });
    // The sort is stable, so hosts with the same due time keep the order of the waves.
    for (const { queue } of sites.values()) queue.sort((a, b) => a.dueAt - b.dueAt);
    const pulls: Pulls = {
      ...{ tally, policy: version, images, imageBytes, nodes, offline: new Map(), running },
      sites: [...sites.values()],
      ...(running.size > 0 && { lastStartAt: clock.now() }),
    };
    this.#pulls.set(key, pulls);
    return pulls;
  }

  #dueTimes({ spec }: RolloutPolicy): (node: Node) => number {
    const now = this.#deps.clock.now();
    const aheadMs = (spec.prePull?.aheadSeconds ?? DEFAULT_AHEAD_SECONDS) * 1000;
    const classOf = compileMaintenanceSchedules(spec);
    return ({ metadata }) => {
      const opening = nextReplacementTime(classOf(metadata.labels), now) ?? Number.POSITIVE_INFINITY;
      return Math.max(now, opening - aheadMs);
    };
  }

  /** Returns when to retry a failed write, in ms since the epoch. Never rejects. */
  async #start(
    { daemonSet, waves }: PrePullView,
    pulls: Pulls,
    site: Site,
    queued: PullQueued,
    deadline: number,
  ): Promise<number | undefined> {
    const { informers, registry, clock, log } = this.#deps;
    const { name } = queued;
    const node = informers.nodes.get({ name });
    if (!node || waves.hasReceived(name)) return undefined;
    if (contactOf(node) !== 'here') {
      pulls.offline.set(name, { queued, site });
      return undefined;
    }
    pulls.running.set(name, { deadline, site });
    site.running += 1;
    site.lastStartAt = clock.now();
    pulls.lastStartAt = site.lastStartAt;
    const annotation = prePullAnnotation(daemonSet.metadata.uid ?? '');
    const value = pulls.images.join();
    if (node.metadata.annotations?.[annotation] === value) return undefined;
    try {
      await registry.modify(nodeKind, { name }, ({ metadata }): undefined => {
        metadata.annotations = { ...metadata.annotations, [annotation]: value };
      });
      return undefined;
    } catch (error) {
      endPull(pulls, name);
      // If the write to a Node is refused permanently, that host pulls during its update and must not block the others.
      const isToRetry = mayRetry(error);
      if (isToRetry) site.queue.unshift(queued);
      if (!isNotFound(error))
        log.warn({ node: name, err: error, isToRetry }, 'could not request an image pull from the host');
      return clock.now() + (isToRetry ? RETRY_MS : 0);
    }
  }

  /** A host that has its images ends its pull. A host that reconnects is queued first. */
  #nodeChanged({ previous, current }: ObjectChange<Node>, moved: (fleetKey: string) => void): void {
    const name = (current ?? previous)?.metadata.name ?? '';
    for (const [key, pulls] of this.#pulls) {
      const { running, offline, images } = pulls;
      const isDone = running.has(name) && (!current || hasImages(current, images));
      if (isDone) endPull(pulls, name);
      if (isDone && current) pulls.imageBytes ??= imageBytesOf(current, images);
      const back = current && contactOf(current) === 'here' ? offline.get(name) : undefined;
      back?.site.queue.unshift(back.queued);
      if (back) offline.delete(name);
      if (isDone || back) moved(key);
    }
  }
}

/** Returns true if a retry of the write may succeed. */
function mayRetry(error: unknown): boolean {
  return !(error instanceof ApiError) || error.code >= 500 || error.reason === 'Conflict';
}

/** Ends a pull that is complete or has timed out. */
function endPull({ running }: Pulls, name: string): void {
  const present = running.get(name);
  if (present) present.site.running -= 1;
  running.delete(name);
}

function siteOf({ spec }: RolloutPolicy, { metadata }: Node, sites: Map<string, Site>): Site {
  const name = spec.prePull?.perSite && spec.spreadBy ? (ownValue(metadata.labels, spec.spreadBy) ?? '') : '';
  const site = sites.get(name) ?? { queue: [], running: 0 };
  sites.set(name, site);
  return site;
}

function deadlineMs({ spec }: RolloutPolicy): number {
  return (spec.failureBudget?.progressDeadlineSeconds ?? DEFAULT_DEADLINE_SECONDS) * 1000;
}
