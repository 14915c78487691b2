/** The rules of a ClusterRole that gathers those of others (`pkg/controller/clusterroleaggregation`). */
import { isDeepStrictEqual } from 'node:util';
import type { PolicyRule, Role } from '../../../shared/kube/access/rbac-types.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';

/** The union in the order of the selectors and of the roles' names, each rule once. */
export function aggregatedRules(role: Role, all: Iterable<Role>): PolicyRule[] {
  const byName = [...all].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const rules: PolicyRule[] = [];
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const matcher = compileLabelSelector(selector);
    for (const other of byName) {
      if (other.metadata.name === role.metadata.name || !matcher.matches(other.metadata.labels ?? {}))
        continue;
      for (const rule of other.rules ?? []) {
        if (!rules.some((known) => isDeepStrictEqual(known, rule))) rules.push(rule);
      }
    }
  }
  return rules;
}
