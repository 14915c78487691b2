/** What a start adds to a built-in role or binding that was changed (component-helpers auth/rbac/reconciliation): it takes nothing away. */
import type { Role, RoleBinding, Subject } from '../../../shared/kube/access/rbac-types.js';
import { AUTO_UPDATE } from './bootstrap-roles.js';
import { uncoveredRules } from './rule-coverage.js';

/** True when the object asks to be left as it is. */
function isLeftAlone({ metadata }: Role | RoleBinding): boolean {
  return metadata.annotations?.[AUTO_UPDATE] === 'false';
}

/** Labels and annotations that are missing; those that are there keep their values. */
function withMetadata<T extends Role | RoleBinding>(present: T, wanted: T): T {
  const labels = { ...wanted.metadata.labels, ...present.metadata.labels };
  const annotations = { ...wanted.metadata.annotations, ...present.metadata.annotations };
  return { ...present, metadata: { ...present.metadata, labels, annotations } };
}

/** The role with what it lacks of the built-in one. */
export function repairedRole(present: Role, wanted: Role): Role {
  if (isLeftAlone(present)) return present;
  const mended = withMetadata(present, wanted);
  if (wanted.aggregationRule) return { ...mended, aggregationRule: wanted.aggregationRule };
  const { rules = [] } = present;
  const isCovered = uncoveredRules(rules, wanted.rules ?? []).length === 0;
  return isCovered ? mended : { ...mended, rules: [...rules, ...missingRules(rules, wanted)] };
}

function missingRules(rules: readonly NonNullable<Role['rules']>[number][], wanted: Role) {
  return (wanted.rules ?? []).filter((rule) => uncoveredRules(rules, [rule]).length > 0);
}

/** The binding with the subjects that it lacks; undefined when it is of another role and must be made anew. */
export function repairedBinding(present: RoleBinding, wanted: RoleBinding): RoleBinding | undefined {
  if (isLeftAlone(present)) return present;
  const { kind, name } = present.roleRef ?? {};
  if (kind !== wanted.roleRef?.kind || name !== wanted.roleRef?.name) return undefined;
  const had = new Set((present.subjects ?? []).map(subjectKey));
  const missing = (wanted.subjects ?? []).filter((subject) => !had.has(subjectKey(subject)));
  return { ...withMetadata(present, wanted), subjects: [...(present.subjects ?? []), ...missing] };
}

function subjectKey({ kind, namespace, name }: Subject): string {
  return `${kind}/${namespace ?? ''}/${name}`;
}
