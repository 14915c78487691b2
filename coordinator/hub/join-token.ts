/** Join tokens: how they are made and kept. */
import { createHash, randomInt } from 'node:crypto';
import type { Secret } from '../../shared/kube/config.js';
import { toTimestamp } from '../../shared/kube/meta.js';

/** Where the Secrets of tokens and credentials are. */
export const ENROLMENT_NAMESPACE = 'kube-system';
/** Type and name are upstream's, so that `kubectl get secret` shows what people know. */
export const TOKEN_SECRET_TYPE = 'bootstrap.kubernetes.io/token';
export const TOKEN_SECRET_PREFIX = 'bootstrap-token-';

const TOKEN_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A join token before the authority's hash is put behind it: `ID.SECRET`. */
export interface JoinToken {
  id: string;
  /** Shown once, never stored. */
  secret: string;
}

/** A new random token. */
export function newJoinToken(): JoinToken {
  return { id: randomText(6), secret: randomText(16) };
}

/** The Secret that makes a token valid until `expiresAtMs`; for ever when absent. */
export function tokenSecret({ id, secret }: JoinToken, expiresAtMs?: number): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${TOKEN_SECRET_PREFIX}${id}`, namespace: ENROLMENT_NAMESPACE },
    type: TOKEN_SECRET_TYPE,
    data: {
      'token-id': base64(id),
      'token-hash': base64(sha256(secret)),
      ...(expiresAtMs === undefined ? {} : { expiration: base64(toTimestamp(expiresAtMs)) }),
    },
  };
}

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
