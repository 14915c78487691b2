/** Containers in the engine that belong to no known Pod. */
import type { ObservedContainer } from '../../runtime/runtime-driver.js';
import { CONTROLLER_UID_LABEL } from '../container-spec/container-labels.js';

/** Returns uids of Pods that only the engine knows. They are reported to the hub; the host alone never removes them. */
export function orphanedPodUids(
  containers: readonly Pick<ObservedContainer, 'identity'>[],
  isKnown: (podUid: string) => boolean,
): string[] {
  const uids = new Set(containers.map((container) => container.identity.podUid));
  return [...uids].filter((uid) => !isKnown(uid)).sort();
}

/**
 * Returns true while an orphaned container of this controller runs. After a restore the hub does not know its Pod and
 * leaves it alone until an operator decides. A Pod started next to it would be a second copy.
 */
export function runsForController(
  leftovers: readonly Pick<ObservedContainer, 'state' | 'labels'>[],
  maker: string | undefined,
): boolean {
  if (maker === undefined) return false;
  return leftovers.some(({ state, labels }) => state === 'running' && labels[CONTROLLER_UID_LABEL] === maker);
}
