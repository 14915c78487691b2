/** Which Pods' containers nobody on the link or in the cache speaks for. */
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import { CONTROLLER_UID_LABEL } from '../container-spec/container-labels.js';

/** Uids of Pods that only the engine knows: to be told to the hub, never to be cleared away on our own. */
export function orphanedPodUids(
  containers: readonly Pick<ObservedContainer, 'identity'>[],
  isKnown: (podUid: string) => boolean,
): string[] {
  const uids = new Set(containers.map((container) => container.identity.podUid));
  return [...uids].filter((uid) => !isKnown(uid)).sort();
}

/**
 * True while one of these containers, of Pods that only the engine knows, runs for `maker`: after a restore the hub knows them no more and
 * leaves them alone until a person confirms. Whoever starts beside it would be a second copy.
 */
export function runsForController(
  leftovers: readonly Pick<ObservedContainer, 'state' | 'labels'>[],
  maker: string | undefined,
): boolean {
  if (maker === undefined) return false;
  return leftovers.some(({ state, labels }) => state === 'running' && labels[CONTROLLER_UID_LABEL] === maker);
}
