/** Who is asking: what a request brings to prove it, and those who know one kind of proof each. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import type { Authenticator } from '../../access/identities.js';
import { ADMIN_GROUP } from '../../access/rbac-authorizer.js';
import { AUTHENTICATED } from '../../access/user-groups.js';

/** The person with the kubeconfig that the coordinator wrote. */
export const ADMIN: UserInfo = { username: 'everynode-admin', groups: [ADMIN_GROUP, AUTHENTICATED] };

/** The token of `Authorization: Bearer TOKEN`; undefined for anything else. */
export function bearerTokenOf(header: string | undefined): string | undefined {
  return /^bearer +([^\s]+) *$/i.exec(header ?? '')?.[1];
}

/** SHA-256 of a token: all of it that is kept at rest. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Knows one token, by its hash; says `user` for it. An empty hash knows none. */
export function tokenAuthenticator(hash: Buffer, user: UserInfo): Authenticator {
  return (token) => {
    const given = tokenHash(token);
    return given.length === hash.length && timingSafeEqual(given, hash) ? user : undefined;
  };
}
