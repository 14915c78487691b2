/** Creates join tokens. */
import { createHash, randomInt } from 'node:crypto';
import {
  TOKEN_CHARACTERS,
  type TokenGrant,
  tokenSecretOf,
} from '../../../shared/kube/access/join-token-secret.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';

/** A join token `ID.SECRET`, before the hash of the authority is appended. */
export interface JoinToken {
  id: string;
  /** Displayed once, never stored. */
  secret: string;
}

export function newJoinToken(): JoinToken {
  return { id: randomText(6), secret: randomText(16) };
}

/** Builds the Secret that makes a token valid. */
export function tokenSecret({ id, secret }: JoinToken, grant: TokenGrant = {}): Secret {
  return tokenSecretOf(id, sha256(secret), grant);
}

/** Encodes text as UTF-8 and base64, as in Secrets. */
export function base64(value: string): string {
  return Buffer.from(value, 'utf8').toString('base64');
}

/** Lower-case hex. */
export function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}

function randomText(length: number): string {
  return Array.from({ length }, () => TOKEN_CHARACTERS[randomInt(TOKEN_CHARACTERS.length)]).join('');
}
