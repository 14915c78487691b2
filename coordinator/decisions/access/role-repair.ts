/** Repairs built-in roles and bindings by additions only (component-helpers auth/rbac/reconciliation). */
import { isDeepStrictEqual } from 'node:util';
import type { PolicyRule, Role, RoleBinding, Subject } from '../../../shared/kube/access/rbac-types.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import { AUTO_UPDATE } from './bootstrap-roles.js';
import { uncoveredRules } from './rule-coverage.js';

/** True if the object opts out of updates. */
function optsOut({ metadata }: Role | RoleBinding): boolean {
  return metadata.annotations?.[AUTO_UPDATE] === 'false';
}

/** Adds missing labels and annotations. Existing ones keep their values. */
function withMetadata<T extends Role | RoleBinding>(present: T, wanted: T): T {
  const labels = { ...wanted.metadata.labels, ...present.metadata.labels };
  const annotations = { ...wanted.metadata.annotations, ...present.metadata.annotations };
  return { ...present, metadata: { ...present.metadata, labels, annotations } };
}

/** Returns the role with all rules of the built-in one. */
export function repairedRole(present: Role, wanted: Role): Role {
  if (optsOut(present)) return present;
  const repaired = withMetadata(present, wanted);
  if (wanted.aggregationRule) return { ...repaired, aggregationRule: wanted.aggregationRule };
  const { rules = [] } = present;
  const isCovered = uncoveredRules(rules, wanted.rules ?? []).length === 0;
  return isCovered ? repaired : { ...repaired, rules: [...rules, ...missingRules(rules, wanted)] };
}

function missingRules(rules: readonly NonNullable<Role['rules']>[number][], wanted: Role) {
  return (wanted.rules ?? []).filter((rule) => uncoveredRules(rules, [rule]).length > 0);
}

/** Returns the binding with all built-in subjects. Undefined if it refers to another role and must be replaced. */
export function repairedBinding(present: RoleBinding, wanted: RoleBinding): RoleBinding | undefined {
  if (optsOut(present)) return present;
  const { kind, name } = present.roleRef ?? {};
  if (kind !== wanted.roleRef?.kind || name !== wanted.roleRef?.name) return undefined;
  const had = new Set((present.subjects ?? []).map(subjectKey));
  const missing = (wanted.subjects ?? []).filter((subject) => !had.has(subjectKey(subject)));
  return { ...withMetadata(present, wanted), subjects: [...(present.subjects ?? []), ...missing] };
}

function subjectKey({ kind, namespace, name }: Subject): string {
  return `${kind}/${namespace ?? ''}/${name}`;
}

/**
 * Returns the rules of an aggregated ClusterRole, in the order of its selectors and of the role names, without duplicates
 * (`pkg/controller/clusterroleaggregation`).
 */
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
