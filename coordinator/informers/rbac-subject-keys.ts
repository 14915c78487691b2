/** Whom a binding grants to, as one text a subject: the same for a binding's subject and for someone who asks. */
import type { RoleBinding, Subject, UserInfo } from '../../shared/kube/access/rbac-types.js';

/** `system:serviceaccount:NS:NAME`. */
export function serviceAccountUser(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/** A ServiceAccount without a namespace is one of the binding's own (`pkg/registry/rbac/validation` appliesToUser). */
function subjectKey({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind === 'Group') return `group ${name}`;
  if (kind === 'User') return `user ${name}`;
  return `user ${serviceAccountUser(namespace || bindingNamespace, name)}`;
}

/** The keys of a binding: within its namespace, which is "" for a ClusterRoleBinding. */
export function subjectKeysOf({ metadata, subjects = [] }: RoleBinding): string[] {
  const { namespace = '' } = metadata;
  return subjects.map((subject) => `${namespace}|${subjectKey(subject, namespace)}`);
}

/** The keys under which bindings for this user stand in that namespace. */
export function subjectKeysFor({ username, groups }: UserInfo, namespace: string): string[] {
  return [`user ${username}`, ...groups.map((group) => `group ${group}`)].map((key) => `${namespace}|${key}`);
}
