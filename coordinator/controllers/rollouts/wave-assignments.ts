/** The waves of each DaemonSet that a policy governs. They follow its tally and the connectivity of hosts. */

import { isDeepStrictEqual } from 'node:util';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { refText } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutPolicy } from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { runInSlices, TimeSlice } from '../../../shared/process/time/time-slice.js';
import { rolloutRevision, templateHashOf } from '../../decisions/daemonsets/daemon-node.js';
import { contactOf } from '../../decisions/nodes/node-contact.js';
import { HEALTH, healthOf, lastRestartOf } from '../../decisions/rollouts/node-health-rank.js';
import { type NodeConnectivity, nodeConnectivity } from '../../decisions/rollouts/node-rollout-facts.js';
import { measurePodTimings, type PodTimings } from '../../decisions/rollouts/pod-timings.js';
import { isBarred } from '../../decisions/rollouts/rollout-outcome.js';
import { nodeRank, type PlannedNode, type RankedRevision } from '../../decisions/rollouts/wave-plan.js';
import { BY_OWNER, type ObjectChange } from '../../informers/informer.js';
import type { DaemonSetDeps } from '../daemonsets/daemonset-deps.js';
import type { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import { buildWaveIndex } from './rollout-decision.js';
import { isPastRollout } from './rollout-history.js';
import { stableRevisionIn } from './rollout-revisions.js';
import type { WaveIndex } from './wave-index.js';

interface WavesSubject {
  daemonSet: DaemonSet;
  policy: RolloutPolicy;
  tally: DaemonSetTally;
  /** Status of the Rollout. Undefined before the first reconcile. */
  status: RolloutStatus | undefined;
  /** Hash of the newest other revision. */
  previous: string | undefined;
}

/** The waves of one DaemonSet, and the tally and policy for which they were assigned. */
export interface AssignedWaves {
  tally: DaemonSetTally;
  policy: string;
  waves: WaveIndex;
  /** Measured when the waves were assigned. */
  pace: PodTimings;
  key: string;
}

export class WaveAssignments {
  readonly #deps: Pick<DaemonSetDeps, 'informers' | 'clock' | 'resync' | 'timeOf'>;
  readonly #assigned = new Map<string, AssignedWaves>();
  /** Waves that are being filled, which takes many turns of the event loop. Changes of nodes must reach them too. */
  readonly #filling = new Set<WaveIndex>();

  /** `moved` is called with the fleet key of a DaemonSet when a node's connectivity or labels change its waves. */
  constructor(
    deps: Pick<DaemonSetDeps, 'informers' | 'clock' | 'resync' | 'timeOf'>,
    moved: (fleetKey: string) => void,
  ) {
    this.#deps = deps;
    deps.informers.nodes.onChange((change) => this.#nodeChanged(change, moved));
    deps.resync?.onResynced((name) => this.#updateConnectivity(name, moved));
  }

  /** Detaches the waves from their tally. */
  forget(key: string): void {
    this.#assigned.get(key)?.tally.subscribe(undefined);
    this.#assigned.delete(key);
  }

  /** Returns the waves of this tally and policy, or undefined. */
  current(daemonSet: DaemonSet, policy: RolloutPolicy, tally: DaemonSetTally): AssignedWaves | undefined {
    const assigned = this.#assigned.get(refText(daemonSet.metadata));
    return assigned?.tally === tally && assigned.policy === versionOf(policy) ? assigned : undefined;
  }

  /** Assigns all nodes to waves. Visits all nodes in time slices. */
  async assign(subject: WavesSubject): Promise<AssignedWaves> {
    const { daemonSet, policy, tally } = subject;
    const { informers, clock, timeOf } = this.#deps;
    const connectivity = (name: string) => ({
      ...nodeConnectivity(informers.nodes.get({ name }), timeOf),
      ...this.#resyncOf(name),
    });
    const nodes = await this.#ranked(subject);
    const { uid = '' } = daemonSet.metadata;
    const isBarredHere = (hash: string) =>
      isBarred(informers.rollouts.indexed(BY_OWNER, uid).filter(isPastRollout), hash);
    const revision = rolloutRevision(tally.subject.current);
    const { status } = subject;
    const failedBefore = status?.revision === revision ? status.failedNodes : undefined;
    const input = {
      ...{
        nodes,
        revision,
        connectivity: connectivity,
        isBarred: isBarredHere,
        failedAndReverted: failedBefore,
      },
      now: () => clock.now(),
    };
    const slice = new TimeSlice(clock);
    const { waves, order } = await runInSlices(buildWaveIndex(policy, input), slice);
    tally.subscribe((name, situation, record) => waves.update(name, situation, record));
    this.#filling.add(waves);
    try {
      // The sets keep this insertion order, and nodes are updated in it.
      for (const name of order) {
        tally.notify(name);
        await slice.yieldIfUsedUp();
      }
    } finally {
      this.#filling.delete(waves);
    }
    const pace = measurePodTimings(informers.pods.indexed(BY_OWNER, uid));
    const key = refText(daemonSet.metadata);
    const assigned = { tally, policy: versionOf(policy), waves, pace, key };
    this.#assigned.set(key, assigned);
    return assigned;
  }

  #ranked({ daemonSet, tally, status, previous }: WavesSubject): Promise<PlannedNode[]> {
    const { informers, clock, timeOf } = this.#deps;
    return rankNodes({
      tally,
      nodeOf: (name) => informers.nodes.get({ name }),
      pods: informers.pods.indexed(BY_OWNER, daemonSet.metadata.uid ?? ''),
      status,
      previous,
      now: clock.now(),
      timeOf,
      slice: new TimeSlice(clock),
    });
  }

  #nodeChanged({ previous, current }: ObjectChange<Node>, moved: (fleetKey: string) => void): void {
    if (!previous || !current || isSameConnectivity(previous, current)) return;
    this.#updateConnectivity(current.metadata.name, moved);
  }

  #updateConnectivity(name: string, moved: (fleetKey: string) => void): void {
    for (const waves of this.#filling) waves.updateConnectivity(name);
    for (const { waves, key } of this.#assigned.values()) if (waves.updateConnectivity(name)) moved(key);
  }

  /** The reports of a host since the coordinator started. */
  #resyncOf(name: string): Pick<NodeConnectivity, 'isAwaitingResync' | 'resyncedAt'> {
    const { resync } = this.#deps;
    const resyncedAt = resync?.resyncedAt(name);
    if (resyncedAt !== undefined) return { resyncedAt };
    return resync?.isAwaitingResync(name) ? { isAwaitingResync: true } : {};
  }
}

function versionOf({ metadata: { uid = '', generation = 0 } }: RolloutPolicy): string {
  return `${uid}/${generation}`;
}

function isSameConnectivity(a: Node, b: Node): boolean {
  return contactOf(a) === contactOf(b) && isDeepStrictEqual(a.metadata.labels, b.metadata.labels);
}

interface Ranking {
  tally: DaemonSetTally;
  nodeOf(name: string): Node | undefined;
  /** All Pods of the DaemonSet. */
  pods: readonly Pod[];
  /** As stored. Undefined before the first reconcile. */
  status: RolloutStatus | undefined;
  /** Hash of the newest other revision. */
  previous: string | undefined;
  now: number;
  /** As in `DaemonSetDeps`. */
  timeOf?: ((stored: string) => number) | undefined;
  slice: TimeSlice;
}

/** Returns all nodes of the tally with their ranks. Visits all nodes in time slices. */
export async function rankNodes(ranking: Ranking): Promise<PlannedNode[]> {
  const { tally, nodeOf, pods, now, slice } = ranking;
  const revision = revisionIn(ranking);
  const restarts = await lastRestarts(pods, slice);
  const nodes: PlannedNode[] = [];
  for (const name of [...tally.nodeNames()]) {
    const node = nodeOf(name);
    const { hashes = [], newPod } = tally.recordOf(name) ?? {};
    const health = node ? healthOf(node, restarts.get(name), now) : HEALTH.dark;
    const rank = nodeRank({ hashes, newPodAt: newPod?.createdAt }, revision, health);
    nodes.push({ name, labels: node?.metadata.labels, rank });
    await slice.yieldIfUsedUp();
  }
  return nodes;
}

function revisionIn({ tally, status, previous, timeOf = Date.parse }: Ranking): RankedRevision {
  const { current } = tally.subject;
  const { hash } = current;
  const revision = rolloutRevision(current);
  const kept = (status && stableRevisionIn(status, revision)) ?? previous;
  const stable = kept === undefined ? undefined : templateHashOf(kept);
  if (status?.revision !== revision) return { hash, stable, startedAt: undefined };
  // The Pods from before a retry belong to the same rollout.
  return { hash, stable, startedAt: status.retryTime ? 0 : timeOf(status.startTime) };
}

async function lastRestarts(pods: readonly Pod[], slice: TimeSlice): Promise<Map<string, number>> {
  const restarts = new Map<string, number>();
  for (const pod of pods) {
    const at = lastRestartOf(pod);
    if (at !== undefined && pod.spec.nodeName) restarts.set(pod.spec.nodeName, at);
    await slice.yieldIfUsedUp();
  }
  return restarts;
}
