/** Built-in groups and user names of the API. */
import type { UserInfo } from '../../shared/kube/access/rbac-types.js';

/** The group of all authenticated users. */
export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS = 'system:anonymous';
const SERVICE_ACCOUNTS = 'system:serviceaccounts';

/** Returns the user of a client certificate: the common name, with the organizations as groups. */
export function certificateUser(subject: { commonName: string; organizations: readonly string[] }): UserInfo {
  return { username: subject.commonName, groups: withAuthenticated(subject.organizations) };
}

/** Returns the groups with `system:authenticated`, without duplicates. */
export function withAuthenticated(groups: readonly string[]): string[] {
  return [...new Set([...groups, AUTHENTICATED])];
}

/** Returns the groups of a ServiceAccount without `system:authenticated`. */
export function serviceAccountGroups(namespace: string): string[] {
  return [SERVICE_ACCOUNTS, `${SERVICE_ACCOUNTS}:${namespace}`];
}

/**
 * Returns the key for rate limits of this user. All ServiceAccounts of a namespace share one key; otherwise a user who
 * may create accounts could get a thousand times the limit.
 */
export function limitKeyOf(username: string): string {
  const account = serviceAccountOf(username);
  return account ? `${SERVICE_ACCOUNTS}:${account.namespace}` : username;
}

/** Returns the ServiceAccount of a user name, or undefined for other users. */
export function serviceAccountOf(username: string): { namespace: string; name: string } | undefined {
  const [system, kind, namespace, name, ...rest] = username.split(':');
  if (system !== 'system' || kind !== 'serviceaccount' || !namespace || !name || rest.length > 0)
    return undefined;
  return { namespace, name };
}
