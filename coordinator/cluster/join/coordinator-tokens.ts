/**
 * Tokens by which coordinators join: `tokens/ID` among the cluster keys, sealed under the cluster key. They are no
 * Secrets, as hosts' tokens are: a user who may create Secrets in kube-system could make one and fetch the authority's
 * key. A writer of etcd cannot make one either.
 */
import { randomInt } from 'node:crypto';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { ClusterKeys } from '../../store/replica/replicated-log.js';
import { TOKENS_PREFIX, tokenKey } from '../cluster-member.js';
import { openValue, SealError, sealValue } from '../keys/sealed-value.js';
import { tokenKeyOf } from './join-exchange.js';

const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 6;
/** 165 random bits. Hosts' tokens have 16 characters, so neither program takes the other's token. */
const SECRET_LENGTH = 32;
const TOKEN_PATTERN = /^([a-z0-9]{6})\.([a-z0-9]{32})\.([0-9a-f]{64})$/;

/** A token as the operator sees it: `ID.SECRET.CAHASH`. */
export interface CoordinatorToken {
  readonly id: string;
  /** Displayed once, never stored. */
  readonly secret: string;
  /** Hex SHA-256 of the key of the authority that the server must present. */
  readonly caHash: string;
}

/** Returns undefined for another form, such as that of a host's token. */
export function parseCoordinatorToken(text: string): CoordinatorToken | undefined {
  const [, id, secret, caHash] = TOKEN_PATTERN.exec(text.trim()) ?? [];
  return id && secret && caHash ? { id, secret, caHash } : undefined;
}

/** A token that may be redeemed. */
interface FoundToken {
  readonly id: string;
  readonly key: Buffer;
  /** Of the stored value. */
  readonly version: number;
}

interface StoredToken {
  /** Base64. Empty: spent. */
  readonly key: string;
  /** ms since the epoch. */
  readonly expiresAt: number;
}

const SPENT: StoredToken = { key: '', expiresAt: 0 };

interface CoordinatorTokensDeps {
  keys: ClusterKeys;
  clusterKey: Buffer;
  clusterUID: string;
  clock: Clock;
}

/** All methods reject with LogUnavailable. */
export class CoordinatorTokens {
  readonly #deps: CoordinatorTokensDeps;

  constructor(deps: CoordinatorTokensDeps) {
    this.#deps = deps;
  }

  /** Stores a new token for one join, and deletes expired ones. */
  async create(ttlMs: number): Promise<{ id: string; secret: string; expiresAt: number }> {
    await this.#deleteExpired();
    const id = randomText(ID_LENGTH);
    const secret = randomText(SECRET_LENGTH);
    const expiresAt = this.#deps.clock.now() + ttlMs;
    const stored = this.#seal(id, { key: tokenKeyOf(secret).toString('base64'), expiresAt });
    // Of two tokens with one id, the first stays.
    if (!(await this.#deps.keys.put(tokenKey(id), stored, { version: 0 }))) return this.create(ttlMs);
    return { id, secret, expiresAt };
  }

  /** Returns undefined for an unknown, spent or expired token. */
  async find(id: string): Promise<FoundToken | undefined> {
    if (!/^[a-z0-9]{6}$/.test(id)) return undefined;
    const found = await this.#deps.keys.get(tokenKey(id));
    const token = found && this.#open(id, found.value);
    if (!token || token.key === '' || token.expiresAt <= this.#deps.clock.now()) return undefined;
    return { id, key: Buffer.from(token.key, 'base64'), version: found.version };
  }

  /** Spends the token. Resolves with false if another join was first. */
  async redeem({ id, version }: FoundToken): Promise<boolean> {
    // A delete has no condition, so the token is overwritten first.
    if (!(await this.#deps.keys.put(tokenKey(id), this.#seal(id, SPENT), { version }))) return false;
    await this.#deps.keys.delete(tokenKey(id));
    return true;
  }

  async #deleteExpired(): Promise<void> {
    for (const { name, value } of await this.#deps.keys.list(TOKENS_PREFIX)) {
      const token = this.#open(name.slice(TOKENS_PREFIX.length), value);
      if (!token || token.expiresAt <= this.#deps.clock.now()) await this.#deps.keys.delete(name);
    }
  }

  #seal(id: string, token: StoredToken): Buffer {
    const { clusterKey, clusterUID } = this.#deps;
    return sealValue(clusterKey, `${clusterUID}/${tokenKey(id)}`, Buffer.from(JSON.stringify(token)));
  }

  #open(id: string, value: Buffer): StoredToken | undefined {
    const { clusterKey, clusterUID } = this.#deps;
    try {
      return JSON.parse(
        openValue(clusterKey, `${clusterUID}/${tokenKey(id)}`, value).toString(),
      ) as StoredToken;
    } catch (error) {
      // Not written by a member of this fleet.
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }
}

function randomText(length: number): string {
  return Array.from({ length }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('');
}
