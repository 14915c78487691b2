/** What came and went between two pictures of the fleet: who keeps a sum of it looks at ten hosts then and not at ten thousand. */
import type { Host } from '../../shared/kube/fleet/host-types.js';

/** A host that changed is in both: as it was, and as it is. */
interface HostDifference {
  gone: readonly Host[];
  come: readonly Host[];
}

/** Both pictures are in order of names; what did not change is the same object in both. Pure. */
export function diffHosts(before: readonly Host[], after: readonly Host[]): HostDifference {
  const gone: Host[] = [];
  const come: Host[] = [];
  let left = 0;
  let right = 0;
  while (left < before.length || right < after.length) {
    const old = before[left];
    const young = after[right];
    const order = compareNames(old, young);
    if (old && order <= 0) left += 1;
    if (young && order >= 0) right += 1;
    if (old === young) continue;
    if (old && order <= 0) gone.push(old);
    if (young && order >= 0) come.push(young);
  }
  return { gone, come };
}

/** Behind the last one there is only more of the other. */
function compareNames(a: Host | undefined, b: Host | undefined): number {
  if (a === b) return 0;
  if (!a) return 1;
  if (!b) return -1;
  if (a.metadata.name === b.metadata.name) return 0;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
