/**
 * Validates and redeems join tokens. A token is a Secret in kube-system that stores only the hash of its secret half.
 */

import { TOKEN_SECRET_PREFIX, TOKEN_SECRET_TYPE } from '../../../shared/kube/access/join-token-secret.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { secretKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { unauthorized } from './bearer-token.js';
import { type JoinRights, readRights } from './join-rights.js';
import { base64, sha256 } from './new-join-token.js';
import { isSameHash, readSecret, secretField } from './node-credentials.js';

const TOKEN_PATTERN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

interface ValidToken {
  id: string;
  secret: Secret;
  rights: JoinRights;
}

export class JoinTokenChecker {
  readonly #registry: Pick<Registry, 'get' | 'modify'>;
  readonly #clock: Clock;

  constructor(registry: Pick<Registry, 'get' | 'modify'>, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** Returns the token for the text `ID.SECRET`. Throws ApiError 401 for a wrong, expired or unknown token. */
  async check(text: string): Promise<ValidToken> {
    const [, id, secret] = TOKEN_PATTERN.exec(text) ?? [];
    if (!id || !secret) throw unauthorized();
    const stored = await readSecret(this.#registry, `${TOKEN_SECRET_PREFIX}${id}`);
    if (stored?.type !== TOKEN_SECRET_TYPE || !isSameHash(hashOf(stored), sha256(secret)))
      throw unauthorized();
    const expiration = secretField(stored, 'expiration');
    // An unreadable expiration counts as expired.
    if (expiration !== undefined && !(Date.parse(expiration) > this.#clock.now())) throw unauthorized();
    return { id, secret: stored, rights: readRights(stored) };
  }

  /** Throws ApiError 403 if the token does not allow this node name. */
  checkName({ id, secret }: ValidToken, node: string): void {
    const patterns = secretField(secret, 'nodes')?.split(',') ?? [];
    if (patterns.length === 0 || patterns.some((pattern) => matchesPattern(pattern.trim(), node))) return;
    throw new ApiError('Forbidden', `token ${id} does not allow the node name "${node}"`);
  }

  /** Reserves a single-use token for this key. Throws ApiError 401 if another host has used it. */
  async redeem({ secret }: ValidToken, keyHash: string): Promise<void> {
    if (!isSingleUse(secret)) return;
    const { name, namespace } = secret.metadata;
    await this.#registry.modify(secretKind, { name, ...(namespace ? { namespace } : {}) }, (token) => {
      const spentFor = secretField(token, 'redeemed-by');
      if (spentFor !== undefined && !isSameHash(spentFor, keyHash)) throw unauthorized();
      if (spentFor !== undefined) return false;
      token.data = { ...token.data, 'redeemed-by': base64(keyHash) };
      return undefined;
    });
  }
}

/** True for a token that admits one host. */
function isSingleUse(secret: Secret): boolean {
  return secretField(secret, 'single-use') === 'true';
}

/** Upstream's bootstrap tokens store the secret itself. Such a token is accepted as well. */
function hashOf(secret: Secret): string | undefined {
  const plain = secretField(secret, 'token-secret');
  return secretField(secret, 'token-hash') ?? (plain === undefined ? undefined : sha256(plain));
}

/** Matches a name against a pattern, with `*` for any characters. Takes linear time, because a token's author chooses the pattern. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false;
  let from = first.length;
  const end = name.length - last.length;
  for (const part of rest) {
    const found = name.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}
