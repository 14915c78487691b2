/** Groups the hosts of a plan by what they would run. */
import type { DaemonSetPlan, PlannedSetting, PlannedVariant } from '../../../shared/kube/fleet/plan-types.js';
import type { ShownValue } from '../host-values/shown-value.js';

/** What one host would run. */
export interface HostVariant {
  node: string;
  isChanging: boolean;
  images: Readonly<Record<string, string>>;
  settings: readonly ShownValue[];
}

/** Each of 5,000 hosts may have a store number of its own. Such a path must not make 5,000 groups. */
const MOST_VALUES = 20;
const MOST_VARIANTS = 50;
const MOST_NODES = 10;

/** `hosts`: sorted by name. The result is sorted by the number of hosts. */
export function planVariants(
  hosts: readonly HostVariant[],
): Pick<DaemonSetPlan, 'variants' | 'otherVariants'> {
  const distinct = distinctValues(hosts);
  const groups = new Map<string, PlannedVariant>();
  for (const { node, isChanging, images, settings } of hosts) {
    const shown = settings.map(({ path, value, from }): PlannedSetting => {
      const count = distinct.get(path)?.size ?? 0;
      return count > MOST_VALUES ? { path, distinctValues: count } : { path, value, from };
    });
    shown.sort((a, b) => (a.path < b.path ? -1 : 1));
    const id = JSON.stringify([images, shown]);
    const group = groups.get(id) ?? {
      images: { ...images },
      settings: shown,
      hosts: 0,
      changes: 0,
      nodes: [],
    };
    groups.set(id, group);
    group.hosts += 1;
    group.changes += isChanging ? 1 : 0;
    if (group.nodes.length < MOST_NODES) group.nodes.push(node);
  }
  const sorted = [...groups.values()].sort((a, b) => b.hosts - a.hosts);
  const left = sorted.slice(MOST_VARIANTS);
  if (left.length === 0) return { variants: sorted };
  const count = left.reduce((sum, { hosts: size }) => sum + size, 0);
  return {
    variants: sorted.slice(0, MOST_VARIANTS),
    otherVariants: { variants: left.length, hosts: count },
  };
}

function distinctValues(hosts: readonly HostVariant[]): Map<string, Set<string>> {
  const values = new Map<string, Set<string>>();
  for (const { settings } of hosts) {
    for (const { path, value } of settings) {
      const found = values.get(path) ?? new Set();
      values.set(path, found);
      found.add(value);
    }
  }
  return values;
}
