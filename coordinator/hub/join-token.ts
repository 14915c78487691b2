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

/** What a token lets a host do. */
export interface TokenGrant {
  /** ms since the epoch; for ever when absent. */
  expiresAtMs?: number | undefined;
  /** True when it joins one host and no other. */
  singleUse?: boolean;
  /** Names, or patterns with `*`, that hosts may join under; any when absent. */
  nodes?: readonly string[];
  /** Labels that the host's Node gets when it registers, whatever the host says. */
  labels?: Readonly<Record<string, string>>;
  /** True when a host may give itself every label, protected ones too. */
  anyLabels?: boolean;
}

/** The Secret that makes a token valid. */
export function tokenSecret({ id, secret }: JoinToken, grant: TokenGrant = {}): Secret {
  const { expiresAtMs, singleUse, nodes, labels, anyLabels } = grant;
  const optional = {
    expiration: expiresAtMs === undefined ? undefined : toTimestamp(expiresAtMs),
    'single-use': singleUse ? 'true' : undefined,
    nodes: nodes?.length ? nodes.join(',') : undefined,
    labels: labels && Object.keys(labels).length > 0 ? JSON.stringify(labels) : undefined,
    'any-labels': anyLabels ? 'true' : undefined,
  };
  const fields = Object.entries({ 'token-id': id, 'token-hash': sha256(secret), ...optional });
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${TOKEN_SECRET_PREFIX}${id}`, namespace: ENROLMENT_NAMESPACE },
    type: TOKEN_SECRET_TYPE,
    data: Object.fromEntries(
      fields.flatMap(([key, value]) => (value === undefined ? [] : [[key, base64(value)]])),
    ),
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
