/** The Pods of the desired cache as their workers see them, and what workers have it keep. */
import type { Clock } from '../../shared/process/time/clock.js';
import { afterRevertCleared, effectivePod } from '../decisions/handovers/assigned-pod-handover.js';
import { type AssignedPod, startableAfterEndOf } from '../decisions/pods/assigned-pod.js';
import type { DesiredCache } from '../desired/desired-cache.js';
import type { PodSource } from '../pods/pod-worker-deps.js';

interface CachedPodSourceOptions {
  /** Something of the Pod is made: beside whomever that was, it has waited for nobody. */
  hasContainers: (uid: string) => boolean;
  /** Called when nothing of a Pod is left. */
  onForgotten: () => void;
}

/** The cache as the source of Pods' workers. */
export function createCachedPodSource(
  cache: DesiredCache,
  clock: Clock,
  { hasContainers: hasBegun, onForgotten }: CachedPodSourceOptions,
): PodSource {
  const asRun = (held: AssignedPod | undefined) => held && effectivePod(held);
  // The Pod of a turn has waited: begun, it is seen once more by an agent whose word of the other's end was lost.
  const startable = (held: AssignedPod) =>
    startableAfterEndOf(held, cache.all(), clock.now()).filter(
      ({ uid }) => uid === held.replacedBy || !hasBegun(uid),
    );
  return {
    get: (uid) => asRun(cache.get(uid)),
    all: () => [...cache.all()].map(effectivePod),
    terminate: (uid, end) => asRun(cache.terminate(uid, end)),
    markContainersRemoved: (uid) => {
      const held = cache.get(uid);
      if (!held) return;
      // Not on disk, it ends once more for the next agent.
      cache.put({ ...held, containersRemoved: true }, ...startable(held)).catch(() => undefined);
    },
    markRevertCleared: async (uid) => {
      const held = cache.get(uid);
      // Not on disk, it is cleared once more by the next agent.
      if (held) await cache.put(afterRevertCleared(held)).catch(() => undefined);
      return asRun(cache.get(uid));
    },
    forget: (held) => {
      // Also one that only the engine knew, of a cache that was lost: whoever is given anew has waited for that as well.
      const next = startable(cache.get(held.uid) ?? held);
      cache.forget(held.uid);
      if (next.length > 0) cache.put(...next).catch(() => undefined);
      onForgotten();
    },
  };
}
