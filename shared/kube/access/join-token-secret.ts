/** Join tokens as they are stored: Secrets of upstream's type and name, so that `kubectl get secret` shows what people know. */

import { ENROLMENT_NAMESPACE } from '../nodes/node-credential-secret.js';
import type { Secret } from '../objects/config-types.js';
import { toTimestamp } from '../objects/meta.js';

export const TOKEN_SECRET_TYPE = 'bootstrap.kubernetes.io/token';
export const TOKEN_SECRET_PREFIX = 'bootstrap-token-';
/** Annotation: what a person said the token is for. */
export const DESCRIPTION_ANNOTATION = 'everynode.dev/description';

/** Of an id (6) and a secret (16): what either may consist of. */
export const TOKEN_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

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

/** The Secret that makes a token valid. `secretHash`: SHA-256 of its secret half in lower-case hex; the half itself is stored nowhere. */
export function tokenSecretOf(id: string, secretHash: string, grant: TokenGrant): Secret {
  const { expiresAtMs, singleUse, nodes, labels, anyLabels } = grant;
  const optional = {
    expiration: expiresAtMs === undefined ? undefined : toTimestamp(expiresAtMs),
    'single-use': singleUse ? 'true' : undefined,
    nodes: nodes?.length ? nodes.join(',') : undefined,
    labels: labels && Object.keys(labels).length > 0 ? JSON.stringify(labels) : undefined,
    'any-labels': anyLabels ? 'true' : undefined,
  };
  const fields = Object.entries({ 'token-id': id, 'token-hash': secretHash, ...optional });
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

/** What people are told of a stored token. */
export interface TokenSummary {
  id: string;
  /** RFC 3339; "" = never. */
  expires: string;
  /** How many hosts it still joins. */
  uses: 'any' | '1' | '0';
  /** Patterns, comma-separated; `*` = any. */
  nodes: string;
  description: string;
}

/** Of a Secret of this type. */
export function tokenSummary({ data = {}, metadata }: Pick<Secret, 'data' | 'metadata'>): TokenSummary {
  const isSingle = decoded(data['single-use']) === 'true';
  return {
    id: decoded(data['token-id']),
    expires: decoded(data.expiration),
    uses: isSingle ? (data['redeemed-by'] === undefined ? '1' : '0') : 'any',
    nodes: decoded(data.nodes) || '*',
    description: metadata.annotations?.[DESCRIPTION_ANNOTATION] ?? '',
  };
}

/** Of UTF-8; `btoa` alone refuses what is not Latin-1. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function decoded(value: string | undefined): string {
  try {
    return atob(value ?? '');
  } catch {
    // A token made by hand may hold anything.
    return '';
  }
}
