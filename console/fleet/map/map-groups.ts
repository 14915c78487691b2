/** Groups hosts by a label, for the map. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { MapGroup } from './map-layout.js';

const WITHOUT = 'without this label';
/** Natural order: site-2 before site-10. */
const { compare } = new Intl.Collator(undefined, { numeric: true });

/** Returns groups sorted by name, the one without the label last. Hosts keep their order. */
export function groupHosts(hosts: readonly Host[], label: string): MapGroup<Host>[] {
  if (label === '') return [{ name: 'All hosts', hosts }];
  const groups = new Map<string | undefined, Host[]>();
  for (const host of hosts) {
    const value = ownValue(host.metadata.labels, label);
    const group = groups.get(value);
    if (group) group.push(host);
    else groups.set(value, [host]);
  }
  return [...groups]
    .sort(([a], [b]) => (a === undefined ? 1 : b === undefined ? -1 : compare(a, b)))
    .map(([value, members]) => ({ name: value ?? WITHOUT, hosts: members }));
}
