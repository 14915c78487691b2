/**
 * Privilege escalation check: users can only grant rules that they have, so roles and bindings are checked before each
 * write (`pkg/registry/rbac/{role,clusterrole,rolebinding,clusterrolebinding}/policybased`).
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type PolicyRule,
  RBAC_GROUP,
  type ResourceAccess,
  type Role,
  type RoleBinding,
  type UserInfo,
} from '../../shared/kube/access/rbac-types.js';
import { ApiError, notFound, qualifiedResource } from '../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { compactRule, compactRules, goList, uncoveredRules } from '../decisions/access/rule-coverage.js';
import type { Kind } from '../kinds/kind.js';
import { ADMIN_GROUP, type Authorizer } from './rbac-authorizer.js';

const ROLES = new Set(['roles', 'clusterroles']);
const BINDINGS = new Set(['rolebindings', 'clusterrolebindings']);

const FULL_AUTHORITY: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** A write of a role or binding. */
interface Grant {
  kind: Kind;
  next: KubeObject;
  current: KubeObject | undefined;
}

/** Throws 403 if the write would grant more than the user has or may grant, and 404 if a binding's role is missing. */
export function refuseEscalation(authorizer: Authorizer, user: UserInfo, grant: Grant): void {
  const { group, resource } = grant.kind;
  if (group !== RBAC_GROUP || user.groups.includes(ADMIN_GROUP)) return;
  if (ROLES.has(resource)) checkRole(authorizer, user, grant);
  if (BINDINGS.has(resource)) checkBinding(authorizer, user, grant);
}

function checkRole(authorizer: Authorizer, user: UserInfo, { kind, next, current }: Grant): void {
  const role: Role = next;
  const before: Role | undefined = current;
  const isSame =
    before !== undefined &&
    isDeepStrictEqual(role.rules ?? [], before.rules ?? []) &&
    isDeepStrictEqual(role.aggregationRule, before.aggregationRule);
  if (isSame) return;
  const { name, namespace = '' } = role.metadata;
  if (authorizer.decide(user, accessTo('escalate', kind.resource, namespace, name)).allowed) return;
  const held = authorizer.rulesOf(user, namespace);
  const aggregates = role.aggregationRule ?? before?.aggregationRule;
  if (aggregates && uncoveredRules(held.rules, FULL_AUTHORITY).length > 0) {
    throw forbidden(kind, name, 'must have cluster-admin privileges to use an aggregationRule');
  }
  refuseUncovered(kind, name, user, held, role.rules ?? []);
}

function checkBinding(authorizer: Authorizer, user: UserInfo, { kind, next, current }: Grant): void {
  const binding: RoleBinding = next;
  if (current && isDeepStrictEqual(binding.subjects, (current as RoleBinding).subjects)) return;
  const { name, namespace = '' } = binding.metadata;
  const { kind: roleKind = '', name: roleName = '' } = binding.roleRef ?? {};
  const resource = roleKind === 'ClusterRole' ? 'clusterroles' : 'roles';
  if (authorizer.decide(user, accessTo('bind', resource, namespace, roleName)).allowed) return;
  const rules = authorizer.rulesOfRole(roleKind, namespace, roleName);
  if (!rules) throw notFound({ group: RBAC_GROUP, resource, kind: roleKind }, roleName);
  refuseUncovered(kind, name, user, authorizer.rulesOf(user, namespace), rules);
}

function refuseUncovered(
  kind: Kind,
  name: string,
  user: UserInfo,
  held: { rules: readonly PolicyRule[]; errors: readonly string[] },
  wanted: readonly PolicyRule[],
): void {
  const missing = compactRules(uncoveredRules(held.rules, wanted));
  if (missing.length === 0) return;
  const errors = held.errors.length > 0 ? `; resolution errors: ${goList(held.errors)}` : '';
  const list = missing.map(compactRule).sort().join('\n');
  const whom = `user ${JSON.stringify(user.username)} (groups=${goList(user.groups)})`;
  throw forbidden(
    kind,
    name,
    `${whom} is attempting to grant RBAC permissions not currently held:\n${list}${errors}`,
  );
}

function accessTo(verb: string, resource: string, namespace: string, name: string): ResourceAccess {
  return { verb, group: RBAC_GROUP, resource, subresource: '', namespace, name };
}

function forbidden(kind: Kind, name: string, detail: string): ApiError {
  const message = `${qualifiedResource(kind)} "${name}" is forbidden: ${detail}`;
  return new ApiError('Forbidden', message, { name, group: kind.group, kind: kind.resource });
}
