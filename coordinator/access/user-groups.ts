/** Groups that the API itself puts people and programs into, and names with a meaning of their own. */
import type { UserInfo } from '../../shared/kube/access/rbac-types.js';

/** Everyone who proved who they are. */
export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS = 'system:anonymous';
const SERVICE_ACCOUNTS = 'system:serviceaccounts';

/** The user that a client certificate of our authority is for: its common name, and its organizations as groups. */
export function certificateUser(subject: { commonName: string; organizations: readonly string[] }): UserInfo {
  return { username: subject.commonName, groups: withAuthenticated(subject.organizations) };
}

/** A user's groups with that of everyone, which is not named twice. */
export function withAuthenticated(groups: readonly string[]): string[] {
  return [...new Set([...groups, AUTHENTICATED])];
}

/** The groups of a ServiceAccount, without that of everyone. */
export function serviceAccountGroups(namespace: string): string[] {
  return [SERVICE_ACCOUNTS, `${SERVICE_ACCOUNTS}:${namespace}`];
}

/**
 * The name under which limits count this user. All ServiceAccounts of a namespace share one: a user who may create one account may
 * create thousands, and request a token for each.
 */
export function limitKeyOf(username: string): string {
  const account = serviceAccountOf(username);
  return account ? `${SERVICE_ACCOUNTS}:${account.namespace}` : username;
}

/** The ServiceAccount that a user name is, undefined for any other user. */
export function serviceAccountOf(username: string): { namespace: string; name: string } | undefined {
  const [system, kind, namespace, name, ...rest] = username.split(':');
  if (system !== 'system' || kind !== 'serviceaccount' || !namespace || !name || rest.length > 0)
    return undefined;
  return { namespace, name };
}
