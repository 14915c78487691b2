/** The Pods of the desired cache as their workers see them, and what workers have it keep. */
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
  // The Pod of a turn has waited: begun, it is seen once more by an agent whose word of the other's end was lost.
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
      // Not on disk, it ends once more for the next agent.
      cache.put(afterContainersRemoved(held), ...startable(held, hasContainers)).catch(() => undefined);
    },
    markRevertCleared: async (uid) => {
      const held = cache.get(uid);
      // Not on disk, it is cleared once more by the next agent.
      if (held) await cache.put(afterRevertCleared(held)).catch(() => undefined);
      return asRun(cache.get(uid));
    },
    forget: (held, hasContainers) => {
      // Also one that only the engine knew, of a cache that was lost: whoever is given anew has waited for that as well.
      const next = startable(cache.get(held.uid) ?? held, hasContainers);
      cache.forget(held.uid);
      if (next.length > 0) cache.put(...next).catch(() => undefined);
    },
  };
}
