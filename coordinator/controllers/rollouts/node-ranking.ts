/** In which order the nodes of a rollout come: whom it has reached, then who has a revision that was never completed, then by health. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { HEALTH, healthOf, lastRestartOf } from '../../decisions/rollouts/node-health-rank.js';
import { nodeRank, type PlannedNode, type RankedRevision } from '../../decisions/rollouts/wave-plan.js';
import type { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import { stableRevisionIn } from './rollout-revisions.js';

interface Ranking {
  tally: DaemonSetTally;
  nodeOf(name: string): Node | undefined;
  /** All Pods of the DaemonSet. */
  pods: readonly Pod[];
  /** As it is stored; absent before the first look. */
  status: RolloutStatus | undefined;
  /** Hash of the newest revision but the one on its way. */
  previous: string | undefined;
  now: number;
  /** As in `DaemonSetParts`. */
  timeOf?: ((stored: string) => number) | undefined;
  slice: TimeSlice;
}

/** All nodes of the tally with their ranks: visits each, in slices. */
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
  const { hash } = tally.subject.current;
  const stable = (status && stableRevisionIn(status, hash)) ?? previous;
  if (status?.revision !== hash) return { hash, stable, startedAt: undefined };
  // What was there before a retry was given by the same rollout.
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
