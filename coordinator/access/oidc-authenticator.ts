/**
 * ID tokens of an OpenID Connect issuer, like kube-apiserver (`pkg/authentication/request/..., oidc`). The issuer's
 * keys are fetched with the first token, cached, and fetched again for an unknown key.
 */
import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import type { UserInfo } from '../../shared/kube/access/rbac-types.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { withAuthenticated } from './user-groups.js';

export interface OidcSettings {
  /** `https://…`, as in the tokens. */
  issuer: string;
  /** The required audience of the tokens. */
  clientId: string;
  usernameClaim: string;
  /** Absent: `ISSUER#`, or nothing for the claim `email`. */
  usernamePrefix?: string;
  groupsClaim?: string;
  groupsPrefix: string;
  /** Required claims and their values. */
  requiredClaims: Readonly<Record<string, string>>;
  signingAlgorithms: readonly string[];
}

/**
 * Sends a request to the issuer, which may have a private certificate authority. `form`: URL-encoded body of a POST.
 */
export type Fetch = (url: string, form?: string, authorization?: string) => Promise<Response>;

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/** Interval of attempts to reach an issuer that does not respond. */
const RETRY_MS = 10_000;
const TIMEOUT_MS = 5_000;
const KEY_COOLDOWN_MS = 30_000;
/** Tolerates an issuer's clock that is ahead, like upstream (go-oidc). Expiry is exact. */
const NOT_BEFORE_LEEWAY_SECONDS = 300;

export class OidcAuthenticator {
  readonly #settings: OidcSettings;
  readonly #fetch: Fetch;
  readonly #keyCooldownMs: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  #keys: Promise<KeySet> | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;

  /** `keyCooldownMs`: minimum interval of fetches for unknown keys. */
  constructor(
    settings: OidcSettings,
    parts: { fetch: Fetch; clock: Clock; log: Logger; keyCooldownMs?: number },
  ) {
    this.#keyCooldownMs = parts.keyCooldownMs ?? KEY_COOLDOWN_MS;
    this.#settings = settings;
    this.#fetch = parts.fetch;
    this.#clock = parts.clock;
    this.#log = parts.log.child({ component: 'oidc' });
  }

  /** Returns the token's user, or undefined if the token is invalid or from another issuer. */
  async authenticate(token: string): Promise<UserInfo | undefined> {
    if (!this.#isOurs(token)) return undefined;
    try {
      const { issuer, clientId, signingAlgorithms } = this.#settings;
      const now = this.#clock.now();
      const { payload } = await jwtVerify(token, await this.#keySet(), {
        issuer,
        audience: clientId,
        algorithms: [...signingAlgorithms],
        currentDate: new Date(now),
        clockTolerance: NOT_BEFORE_LEEWAY_SECONDS,
        requiredClaims: ['exp'],
      });
      if ((payload.exp ?? 0) * 1000 <= now) throw new errors.JWTExpired('the token has expired', payload);
      return oidcUser(payload, this.#settings);
    } catch (error) {
      // The message names for example a claim, but never its value.
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.warn({ reason }, 'ID token refused');
      return undefined;
    }
  }

  /** Reads the issuer without verification, only to ignore other issuers' tokens. */
  #isOurs(token: string): boolean {
    try {
      return decodeJwt(token).iss === this.#settings.issuer;
    } catch (error) {
      if (error instanceof errors.JWTInvalid || error instanceof TypeError) return false;
      throw error;
    }
  }

  #keySet(): Promise<KeySet> {
    const now = this.#clock.monotonic();
    if (!this.#keys && now - this.#triedAt < RETRY_MS) {
      return Promise.reject(new Error('the issuer was unreachable in the last attempt'));
    }
    if (!this.#keys) {
      this.#triedAt = now;
      this.#keys = this.#discover();
      this.#keys.catch(() => {
        this.#keys = undefined;
      });
    }
    return this.#keys;
  }

  /** OpenID Connect Discovery 1.0: asks the issuer for the location of its keys. */
  async #discover(): Promise<KeySet> {
    const { issuer } = this.#settings;
    const answer = await this.#fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (!answer.ok) throw new Error(`the issuer returned status ${answer.status} to the discovery request`);
    const { issuer: named, jwks_uri: uri } = (await answer.json()) as Record<string, unknown>;
    if (named !== issuer) throw new Error(`the issuer identifies itself as ${JSON.stringify(named)}`);
    if (typeof uri !== 'string') throw new Error('the issuer does not publish the location of its keys');
    return createRemoteJWKSet(new URL(uri), {
      timeoutDuration: TIMEOUT_MS,
      cooldownDuration: this.#keyCooldownMs,
      [customFetch]: (url) => this.#fetch(url),
    });
  }
}

/** Returns the user in verified claims. Throws an Error that names the missing or invalid claim. */
export function oidcUser(claims: JWTPayload, settings: OidcSettings): UserInfo {
  const { usernameClaim, groupsClaim, groupsPrefix, requiredClaims } = settings;
  for (const [claim, value] of Object.entries(requiredClaims)) {
    if (claims[claim] !== value)
      throw new Error(`the required claim ${claim} is missing or has another value`);
  }
  const name = claims[usernameClaim];
  if (typeof name !== 'string' || name === '') throw new Error(`the claim ${usernameClaim} contains no name`);
  if (usernameClaim === 'email' && !isVerified(claims)) {
    throw new Error('the email of the token is not verified');
  }
  const groups = groupsClaim === undefined ? [] : listOf(claims[groupsClaim], groupsClaim);
  return {
    username: prefixOf(settings) + name,
    groups: withAuthenticated(groups.map((group) => groupsPrefix + group)),
  };
}

/** If the issuer does not report verification, every address is accepted, like upstream. */
function isVerified({ email_verified: isTrue }: JWTPayload): boolean {
  return isTrue === undefined || isTrue === true;
}

function prefixOf({ usernamePrefix, usernameClaim, issuer }: OidcSettings): string {
  if (usernamePrefix === '-') return '';
  return usernamePrefix ?? (usernameClaim === 'email' ? '' : `${issuer}#`);
}

/** A claim may contain one group or a list. */
function listOf(value: unknown, claim: string): string[] {
  if (value === undefined) return [];
  const values = Array.isArray(value) ? value : [value];
  if (values.every((item) => typeof item === 'string')) return values;
  throw new Error(`the claim ${claim} is not a list of names`);
}
