/** Who is asking: bearer tokens, compared by their SHA-256. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** authentication.k8s.io/v1 UserInfo. */
export interface UserInfo {
  username: string;
  groups: readonly string[];
}

/** Knows some credentials; undefined for those that it does not know. */
export type Authenticator = (bearerToken: string) => UserInfo | undefined | Promise<UserInfo | undefined>;

/** The group that may do everything, as upstream. */
export const ADMIN_GROUP = 'system:masters';

/** The person with the kubeconfig that the coordinator wrote. */
export const ADMIN: UserInfo = { username: 'everynode-admin', groups: [ADMIN_GROUP, 'system:authenticated'] };

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
