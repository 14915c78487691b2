/** Difference of two versions of the fleet, so that updates cost as many steps as there are changes. */
import type { Host } from '../../shared/kube/fleet/host-types.js';

/** A changed host is in both lists, with its old and its new version. */
interface HostDifference {
  removed: readonly Host[];
  added: readonly Host[];
}

/** Both arguments must be sorted by name. Unchanged hosts must be the same objects. Pure. */
export function diffHosts(before: readonly Host[], after: readonly Host[]): HostDifference {
  const removed: Host[] = [];
  const added: Host[] = [];
  let left = 0;
  let right = 0;
  while (left < before.length || right < after.length) {
    const old = before[left];
    const current = after[right];
    const order = compareNames(old, current);
    if (old && order <= 0) left += 1;
    if (current && order >= 0) right += 1;
    if (old === current) continue;
    if (old && order <= 0) removed.push(old);
    if (current && order >= 0) added.push(current);
  }
  return { removed, added };
}

/** At the end of one list, all hosts of the other one added next. */
function compareNames(a: Host | undefined, b: Host | undefined): number {
  if (a === b) return 0;
  if (!a) return 1;
  if (!b) return -1;
  if (a.metadata.name === b.metadata.name) return 0;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
