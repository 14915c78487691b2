/** Which Pods' containers nobody on the link or in the cache speaks for. */
import type { ObservedContainer } from '../runtime/driver.js';

/** Uids of Pods that only the engine knows: to be told to the hub, never to be cleared away on our own. */
export function leftoverPods(
  containers: readonly Pick<ObservedContainer, 'identity'>[],
  isKnown: (podUid: string) => boolean,
): string[] {
  const uids = new Set(containers.map((container) => container.identity.podUid));
  return [...uids].filter((uid) => !isKnown(uid)).sort();
}
