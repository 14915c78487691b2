/** Join tokens as Secrets with the type and name of kubeadm's bootstrap tokens. */

import { ENROLMENT_NAMESPACE } from '../nodes/node-credential-secret.js';
import type { Secret } from '../objects/config-types.js';
import { toTimestamp } from '../objects/meta.js';

export const TOKEN_SECRET_TYPE = 'bootstrap.kubernetes.io/token';
export const TOKEN_SECRET_PREFIX = 'bootstrap-token-';
/** Annotation: the token's purpose, as its creator described it. */
export const DESCRIPTION_ANNOTATION = 'everynode.dev/description';

/** Characters of a token's id (6 characters) and secret (16 characters). */
export const TOKEN_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** The rights that a token grants to a joining host. */
export interface TokenGrant {
  /** Milliseconds since the epoch. Absent: the token does not expire. */
  expiresAtMs?: number | undefined;
  /** True if only one host may join. */
  singleUse?: boolean;
  /** Allowed node names, or patterns with `*`. Absent: any name. */
  nodes?: readonly string[];
  /** Labels that the Node receives at registration. They override labels that the host requests. */
  labels?: Readonly<Record<string, string>>;
  /** True if the host may set any label on its Node, including protected ones. */
  anyLabels?: boolean;
}

/** Returns the Secret of a token. Only the hex SHA-256 of the token's secret is stored. */
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

/** A stored token as shown to users. */
export interface TokenSummary {
  id: string;
  /** RFC 3339. Empty: never. */
  expires: string;
  /** Number of hosts that may still join. */
  uses: 'any' | '1' | '0';
  /** Comma-separated patterns. `*` means any name. */
  nodes: string;
  description: string;
}

/** Returns the summary of a token's Secret. */
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

/** Encodes UTF-8. `btoa` alone throws for characters outside Latin-1. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function decoded(value: string | undefined): string {
  try {
    return atob(value ?? '');
  } catch {
    // A token that was created by hand can contain anything.
    return '';
  }
}
