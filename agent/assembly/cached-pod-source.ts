/** Adapts the desired cache to the Pods' workers. */
import type { Clock } from '../../shared/process/time/clock.js';
import { afterRevertCleared, effectivePod } from '../decisions/handovers/assigned-pod-handover.js';
import {
  type AssignedPod,
  afterContainersRemoved,
  startableAfterEndOf,
  successorUidOf,
} from '../decisions/pods/assigned-pod.js';
import type { DesiredCache } from '../desired/desired-cache.js';
import type { PodSource } from '../pods/pod-worker-deps.js';

/** Returns the cache as the source of the Pods' workers. */
export function createCachedPodSource(cache: DesiredCache, clock: Clock): PodSource {
  const asRun = (held: AssignedPod | undefined) => held && effectivePod(held);
  // The direct successor of a handover has always waited. If it has containers, only the record of its predecessor's
  // end was lost.
  const startable = (ended: AssignedPod, hasContainers: (uid: string) => boolean) =>
    startableAfterEndOf(ended, cache.all(), clock.now()).filter(
      ({ uid }) => uid === successorUidOf(ended) || !hasContainers(uid),
    );
  return {
    get: (uid) => asRun(cache.get(uid)),
    all: () => [...cache.all()].map(effectivePod),
    terminate: (uid, end) => asRun(cache.terminate(uid, end)),
    markContainersRemoved: (uid, hasContainers) => {
      const held = cache.get(uid);
      if (!held) return;
      // If the write fails, the next agent records the end again.
      cache.put(afterContainersRemoved(held), ...startable(held, hasContainers)).catch(() => undefined);
    },
    markRevertCleared: async (uid) => {
      const held = cache.get(uid);
      // If the write fails, the next agent clears the Pod again.
      if (held) await cache.put(afterRevertCleared(held)).catch(() => undefined);
      return asRun(cache.get(uid));
    },
    forget: (held, hasContainers) => {
      // An orphan of the engine is not in a lost cache, but Pods assigned since then have waited for it, too.
      const next = startable(cache.get(held.uid) ?? held, hasContainers);
      cache.forget(held.uid);
      if (next.length > 0) cache.put(...next).catch(() => undefined);
    },
  };
}
