/**
 * Exited containers that can be removed if the disk is nearly full (pkg/kubelet/container DeleteAllUnusedContainers).
 */
import type { ObservedContainer } from '../../runtime/runtime-driver.js';

/**
 * Returns ids of exited containers: all of a finished Pod, and otherwise all but each container's newest attempt. The
 * number of that attempt is the restart count.
 */
export function deadContainers(
  containers: readonly Pick<ObservedContainer, 'id' | 'identity' | 'state'>[],
  isOver: (podUid: string) => boolean,
): string[] {
  const newest = new Map<string, number>();
  const key = ({ podUid, container }: ObservedContainer['identity']) => `${podUid}/${container}`;
  for (const { identity } of containers) {
    newest.set(key(identity), Math.max(newest.get(key(identity)) ?? 0, identity.attempt));
  }
  return containers
    .filter(({ state }) => state === 'exited')
    .filter(({ identity }) => isOver(identity.podUid) || identity.attempt < (newest.get(key(identity)) ?? 0))
    .map(({ id }) => id);
}
