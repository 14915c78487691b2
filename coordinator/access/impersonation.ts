/** Impersonation by `Impersonate-*` headers (apiserver `pkg/endpoints/filters/impersonation.go`). */
import type { IncomingHttpHeaders } from 'node:http';
import type { Access, UserInfo } from '../../shared/kube/access/rbac-types.js';
import { badRequest } from '../../shared/kube/objects/api-status.js';
import {
  ANONYMOUS,
  serviceAccountGroups,
  serviceAccountOf,
  UNAUTHENTICATED,
  withAuthenticated,
} from './user-groups.js';

const USER = 'impersonate-user';
const UID = 'impersonate-uid';
const GROUP = 'impersonate-group';
const EXTRA = 'impersonate-extra-';

const AUTHENTICATION = 'authentication.k8s.io';

/** The impersonated user, and the access that the caller needs for it. */
interface Impersonation {
  user: UserInfo;
  requiredAccess: Access[];
}

/** Headers with separate values. Node.js joins the values of repeated headers. */
type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** True if there are impersonation headers. */
export function asksToImpersonate(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => name.startsWith('impersonate-'));
}

/** Reads the headers. Throws 400 if they name no user. */
export function readImpersonation(headers: DistinctHeaders): Impersonation {
  const username = headers[USER]?.[0] ?? '';
  if (!username) throw badRequest('requested impersonation without impersonating a user name');
  const groups = [...(headers[GROUP] ?? [])];
  const uid = headers[UID]?.[0];
  const extra = extraOf(headers);
  const needs = [
    impersonate(...subjectOf(username)),
    ...groups.map((name) => impersonate('groups', name)),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => ({ ...impersonate('userextras', value, '', AUTHENTICATION), subresource: key })),
    ),
    ...(uid ? [impersonate('uids', uid, '', AUTHENTICATION)] : []),
  ];
  const user = {
    username,
    groups: groupsOf(username, groups),
    ...(uid ? { uid } : {}),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
  return { user, requiredAccess: needs };
}

function subjectOf(username: string): [resource: string, name: string, namespace: string] {
  const account = serviceAccountOf(username);
  return account ? ['serviceaccounts', account.name, account.namespace] : ['users', username, ''];
}

function impersonate(resource: string, name: string, namespace = '', group = '') {
  return { verb: 'impersonate', group, resource, subresource: '', namespace, name };
}

function groupsOf(username: string, groups: readonly string[]): string[] {
  if (username === ANONYMOUS) return groups.length > 0 ? [...groups] : [UNAUTHENTICATED];
  const account = serviceAccountOf(username);
  const own = groups.length === 0 && account ? serviceAccountGroups(account.namespace) : groups;
  return own.includes(UNAUTHENTICATED) ? [...own] : withAuthenticated(own);
}

/** Keys are percent-encoded, because header names allow few characters. */
function extraOf(headers: DistinctHeaders): Record<string, string[]> {
  const entries = Object.entries(headers).flatMap(([name, values]) =>
    name.startsWith(EXTRA)
      ? [[decodeKey(name.slice(EXTRA.length)), [...(values ?? [])]] as [string, string[]]]
      : [],
  );
  return Object.fromEntries(entries);
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key).toLowerCase();
  } catch {
    // An invalid encoding is used as is, like upstream.
    return key;
  }
}
