/** Bearer tokens and their hashes. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import type { Authenticator } from '../../access/identities.js';
import { ADMIN_GROUP } from '../../access/rbac-authorizer.js';
import { AUTHENTICATED } from '../../access/user-groups.js';

/** The user of the kubeconfig that the coordinator wrote. */
export const ADMIN: UserInfo = { username: 'everynode-admin', groups: [ADMIN_GROUP, AUTHENTICATED] };

/** Returns the token of `Authorization: Bearer TOKEN`; undefined for any other header. */
export function bearerTokenOf(header: string | undefined): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(header ?? '')?.[1];
}

/** Returns the SHA-256 of a token. Only this hash is stored. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Returns an authenticator that maps the token with this hash to `user`. An empty hash matches no token. */
export function tokenAuthenticator(hash: Buffer, user: UserInfo): Authenticator {
  return (token) => {
    const given = tokenHash(token);
    return given.length === hash.length && timingSafeEqual(given, hash) ? user : undefined;
  };
}
