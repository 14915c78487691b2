/** RBAC: authorization by the roles and bindings in the informers, with an index of subjects. */

import type { Access, PolicyRule, RoleBinding, UserInfo } from '../../shared/kube/access/rbac-types.js';
import { rulesAllow } from '../decisions/access/rule-allows.js';
import { BINDINGS_BY_SUBJECT, type Informer, type Informers } from '../informers/informer.js';
import { subjectKeysFor } from '../informers/informer-indexes.js';

/** Members may do everything, regardless of roles, like upstream. */
export const ADMIN_GROUP = 'system:masters';

/** `reason` names the binding that allows access, or problems with roles if access is denied. It may be empty. */
export interface AccessDecision {
  allowed: boolean;
  reason: string;
}

/** The rules of a user in a namespace. `errors`: bindings with missing roles. */
export interface EffectiveRules {
  rules: PolicyRule[];
  errors: string[];
}

export interface Authorizer {
  decide(user: UserInfo, access: Access): AccessDecision;
  /** Returns all rules of the user. `namespace` "": only from ClusterRoleBindings. */
  rulesOf(user: UserInfo, namespace: string): EffectiveRules;
  /** Returns the rules of a role, or undefined if it does not exist. */
  rulesOfRole(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined;
}

export type RbacInformers = Pick<
  Informers,
  'roles' | 'clusterRoles' | 'roleBindings' | 'clusterRoleBindings'
>;

const EVERYTHING: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

export class RbacAuthorizer implements Authorizer {
  readonly #informers: RbacInformers;

  constructor(informers: RbacInformers) {
    this.#informers = informers;
  }

  decide(user: UserInfo, access: Access): AccessDecision {
    if (user.groups.includes(ADMIN_GROUP)) return { allowed: true, reason: '' };
    const errors = new Set<string>();
    const namespace = 'path' in access ? '' : access.namespace;
    for (const binding of this.#bindingsOf(user, namespace)) {
      const rules = this.#rulesOf(binding);
      if (!rules) errors.add(missingRole(binding));
      else if (rulesAllow(rules, access)) return { allowed: true, reason: allowedBy(binding, user) };
    }
    return { allowed: false, reason: errors.size > 0 ? `RBAC: ${errorList([...errors])}` : '' };
  }

  rulesOf(user: UserInfo, namespace: string): EffectiveRules {
    if (user.groups.includes(ADMIN_GROUP)) return { rules: EVERYTHING, errors: [] };
    const held: EffectiveRules = { rules: [], errors: [] };
    for (const binding of this.#bindingsOf(user, namespace)) {
      const rules = this.#rulesOf(binding);
      if (rules) held.rules.push(...rules);
      else held.errors.push(missingRole(binding));
    }
    return held;
  }

  rulesOfRole(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined {
    const { roles, clusterRoles } = this.#informers;
    const role = kind === 'ClusterRole' ? clusterRoles.get({ name }) : roles.get({ namespace, name });
    return role && (role.rules ?? []);
  }

  #rulesOf({ roleRef, metadata }: RoleBinding): readonly PolicyRule[] | undefined {
    return this.rulesOfRole(roleRef?.kind ?? '', metadata.namespace ?? '', roleRef?.name ?? '');
  }

  /** Yields the bindings of the user and of each group. A binding may occur several times. */
  *#bindingsOf(user: UserInfo, namespace: string): Generator<RoleBinding, void> {
    const { clusterRoleBindings, roleBindings } = this.#informers;
    yield* under(clusterRoleBindings, user, '');
    if (namespace) yield* under(roleBindings, user, namespace);
  }
}

function* under(
  bindings: Informer<RoleBinding>,
  user: UserInfo,
  namespace: string,
): Generator<RoleBinding, void> {
  for (const key of subjectKeysFor(user, namespace)) yield* bindings.indexed(BINDINGS_BY_SUBJECT, key);
}

function missingRole({ roleRef }: RoleBinding): string {
  const resource = roleRef?.kind === 'ClusterRole' ? 'clusterrole' : 'role';
  return `${resource}.rbac.authorization.k8s.io "${roleRef?.name}" not found`;
}

/** Joins errors like Go's aggregate. */
function errorList(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
}

/** Returns upstream's reason (`plugin/pkg/auth/authorizer/rbac` clusterRoleBindingDescriber). */
function allowedBy({ kind, metadata, roleRef, subjects = [] }: RoleBinding, user: UserInfo): string {
  const { name, namespace } = metadata;
  const binding = namespace ? `${kind} "${name}/${namespace}"` : `${kind} "${name}"`;
  const subject = subjects.find(
    ({ kind: subjectKind, name: subjectName }) =>
      (subjectKind === 'Group' && user.groups.includes(subjectName)) ||
      (subjectKind === 'User' && subjectName === user.username),
  );
  const account = subjects.find(
    (one) => one.kind === 'ServiceAccount' && user.username.endsWith(`:${one.name}`),
  );
  const whom = subject
    ? `${subject.kind} "${subject.name}"`
    : `ServiceAccount "${account?.name}/${account?.namespace ?? namespace}"`;
  return `RBAC: allowed by ${binding} of ${roleRef?.kind} "${roleRef?.name}" to ${whom}`;
}
