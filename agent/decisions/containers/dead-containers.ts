/** Which ended containers a host that is short of disk does without (pkg/kubelet/container DeleteAllUnusedContainers). */
import type { ObservedContainer } from '../../runtime/runtime-driver.js';

/**
 * Ids of those that have ended and that nothing depends on: all of a Pod that is over, and of others all but each
 * container's newest attempt, whose number says how often it was started.
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
