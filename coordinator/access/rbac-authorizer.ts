/** Who may do what: RBAC over the roles and bindings that informers hold, by an index of subjects. */

import type { Access, PolicyRule, RoleBinding, UserInfo } from '../../shared/kube/access/rbac-types.js';
import { rulesAllow } from '../decisions/access/rule-allows.js';
import { BINDINGS_BY_SUBJECT, type Informer, type Informers } from '../informers/informer.js';
import { subjectKeysFor } from '../informers/informer-indexes.js';

/** The group that may do everything, whatever the roles say, as upstream. */
export const ADMIN_GROUP = 'system:masters';

/** `reason` says by what it is allowed, or what is amiss with the roles where it is not; often empty then. */
export interface AccessDecision {
  allowed: boolean;
  reason: string;
}

/** What a user holds in a namespace. `errors`: bindings whose role is missing. */
export interface EffectiveRules {
  rules: PolicyRule[];
  errors: string[];
}

export interface Authorizer {
  decide(user: UserInfo, access: Access): AccessDecision;
  /** All rules of the user there; `namespace` "" = those of ClusterRoleBindings alone. */
  rulesOf(user: UserInfo, namespace: string): EffectiveRules;
  /** The rules of a role; undefined when there is no such role. */
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

  /** Each binding that names the user or one of their groups, once for each of them. */
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

/** As Go prints several errors at once. */
function errorList(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
}

/** Upstream's words (`plugin/pkg/auth/authorizer/rbac` clusterRoleBindingDescriber). */
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
