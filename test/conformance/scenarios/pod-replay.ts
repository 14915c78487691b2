/** Rules that must hold at all times during a step: replays its Pods event by event. */

import { REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { isLive } from './cluster-snapshot.js';
import type { PodEvent } from './step-recording.js';

/** The set's Pods after an event. */
export interface PodsAtTime {
  pods: readonly Pod[];
  at: number;
}

/** The states during a step, beginning with its start. */
export function replayPods(before: readonly Pod[], events: readonly PodEvent[]): PodsAtTime[] {
  const pods = new Map(before.map((pod) => [pod.metadata.uid, pod]));
  const moments: PodsAtTime[] = [{ pods: before, at: Number.NEGATIVE_INFINITY }];
  for (const { type, pod, at } of events) {
    if (type === 'DELETED') pods.delete(pod.metadata.uid);
    else pods.set(pod.metadata.uid, pod);
    moments.push({ pods: [...pods.values()], at });
  }
  return moments;
}

/** Live Pods of each node. */
function liveByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods.filter(isLive)) {
    const node = targetNodeOf(pod) ?? '';
    byNode.set(node, [...(byNode.get(node) ?? []), pod]);
  }
  return byNode;
}

export function isReady(pod: Pod): boolean {
  return findCondition(pod.status?.conditions, 'Ready')?.status === 'True';
}

/** Time at which each Pod was first seen ready, by the clock of the recording. */
function readySince(moments: readonly PodsAtTime[]): Map<string | undefined, number> {
  const since = new Map<string | undefined, number>();
  for (const { pods, at } of moments) {
    for (const pod of pods.filter(isReady)) {
      if (!since.has(pod.metadata.uid)) since.set(pod.metadata.uid, at);
    }
  }
  return since;
}

/**
 * Number of the set's nodes without an available Pod, after each event. The set's nodes are the nodes with Pods at the
 * start.
 */
export function unavailableCounts(moments: readonly PodsAtTime[], minReadySeconds: number): number[] {
  const nodes = [...liveByNode(moments[0]?.pods ?? []).keys()];
  const since = readySince(moments);
  return moments.map(({ pods, at }) => {
    const byNode = liveByNode(pods);
    const isAvailable = (pod: Pod) =>
      isReady(pod) && at - (since.get(pod.metadata.uid) ?? at) >= minReadySeconds * 1000;
    // At the start there are no times yet, so a ready Pod counts as available.
    const available = (pod: Pod) => (Number.isFinite(at) ? isAvailable(pod) : isReady(pod));
    return nodes.filter((node) => !(byNode.get(node) ?? []).some(available)).length;
  });
}

/** The most nodes that had two live Pods at once. */
export function mostNodesWithTwoPods(moments: readonly PodsAtTime[]): number {
  return Math.max(
    ...moments.map(({ pods }) => [...liveByNode(pods).values()].filter((on) => on.length > 1).length),
  );
}

/** True if no node ever had two live Pods of one revision. */
export function onePodPerNodeAndRevision(moments: readonly PodsAtTime[]): boolean {
  return moments.every(({ pods }) =>
    [...liveByNode(pods).values()].every((on) => {
      const hashes = on.map((pod) => pod.metadata.labels?.[REVISION_HASH_LABEL]);
      return new Set(hashes).size === hashes.length;
    }),
  );
}

/** The shortest time, in seconds, from a new Pod's readiness to the deletion of the old one on its node; Infinity if none. */
export function shortestOverlapSeconds(moments: readonly PodsAtTime[]): number {
  const old = new Set(moments[0]?.pods.map((pod) => pod.metadata.uid));
  const since = readySince(moments);
  const seen = new Set<string | undefined>();
  let shortest = Number.POSITIVE_INFINITY;
  for (const { pods, at } of moments) {
    for (const pod of pods) {
      const { uid } = pod.metadata;
      if (!old.has(uid) || isLive(pod) || seen.has(uid) || !Number.isFinite(at)) continue;
      seen.add(uid);
      const news = pods.filter(
        (other) => !old.has(other.metadata.uid) && targetNodeOf(other) === targetNodeOf(pod),
      );
      const readyAt = Math.min(...news.map((other) => since.get(other.metadata.uid) ?? at));
      shortest = Math.min(shortest, (at - (news.length > 0 ? readyAt : at)) / 1000);
    }
  }
  return shortest;
}
