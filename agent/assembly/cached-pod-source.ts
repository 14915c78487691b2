/** Adapts the desired cache to the Pods' workers. */
import type { Clock } from '../../shared/process/time/clock.js';
import { afterRevertCleared, effectivePod } from '../decisions/handovers/assigned-pod-handover.js';
import {
  type AssignedPod,
  afterContainersRemoved,
  afterTermination,
  isStopping,
  successorUidOf,
} from '../decisions/pods/assigned-pod.js';
import { startableAfterEndOf } from '../decisions/pods/pod-predecessors.js';
import type { DesiredCache } from '../desired/desired-cache.js';
import type { PodSource } from '../pods/pod-worker-deps.js';

/** Returns the cache as the source of the Pods' workers. */
export function createCachedPodSource(cache: DesiredCache, clock: Clock): PodSource {
  const effective = (assigned: AssignedPod | undefined) => assigned && effectivePod(assigned);
  // The direct successor of a handover has always waited. If it has containers, only the record of its predecessor's
  // end was lost.
  const startable = (ended: AssignedPod, hasContainers: (uid: string) => boolean) =>
    startableAfterEndOf(ended, cache.all(), clock.now()).filter(
      ({ uid }) => uid === successorUidOf(ended) || !hasContainers(uid),
    );
  return {
    get: (uid) => effective(cache.get(uid)),
    all: () => [...cache.all()].map(effectivePod),
    terminate: (uid, end) => effective(cache.terminate(uid, end)),
    terminateDurably: async (uid, end) => {
      const assigned = cache.get(uid);
      if (!assigned || assigned.terminal || isStopping(assigned)) return undefined;
      const isStored = await cache.replaceDurably(assigned, afterTermination(assigned, end));
      return isStored ? effective(cache.get(uid)) : undefined;
    },
    markContainersRemoved: (uid, hasContainers) => {
      const assigned = cache.get(uid);
      if (!assigned) return;
      // If the write fails, the next agent records the end again.
      cache
        .put(afterContainersRemoved(assigned), ...startable(assigned, hasContainers))
        .catch(() => undefined);
    },
    markLocked: (uid) => {
      const assigned = cache.get(uid);
      if (assigned?.lockedSince !== undefined) return assigned.lockedSince;
      const lockedSince = clock.now();
      // If the write fails, a restart of the agent extends the lock's time limit.
      if (assigned) cache.put({ ...assigned, lockedSince }).catch(() => undefined);
      return lockedSince;
    },
    markRevertCleared: async (uid) => {
      const assigned = cache.get(uid);
      // If the write fails, the next agent clears the Pod again.
      if (assigned) await cache.put(afterRevertCleared(assigned)).catch(() => undefined);
      return effective(cache.get(uid));
    },
    forget: (assigned, hasContainers) => {
      // An orphan of the engine is not in a lost cache, but Pods assigned since then have waited for it, too.
      const next = startable(cache.get(assigned.uid) ?? assigned, hasContainers);
      cache.forget(assigned.uid);
      if (next.length > 0) cache.put(...next).catch(() => undefined);
    },
  };
}
