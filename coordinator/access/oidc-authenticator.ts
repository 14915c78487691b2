/**
 * ID tokens of an OpenID Connect issuer, as kube-apiserver takes them (`pkg/authentication/request/..., oidc`). The issuer's
 * keys are fetched when a token asks for one, remembered, and fetched anew for a key that is not known.
 */
import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import type { UserInfo } from '../../shared/kube/access/rbac-types.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { withAuthenticated } from './user-groups.js';

export interface OidcSettings {
  /** `https://…`, as the tokens name it. */
  issuer: string;
  /** What the tokens must be for. */
  clientId: string;
  usernameClaim: string;
  /** Absent: `ISSUER#`, or nothing for the claim `email`. */
  usernamePrefix?: string;
  groupsClaim?: string;
  groupsPrefix: string;
  /** Claims that a token must have with just these values. */
  requiredClaims: Readonly<Record<string, string>>;
  signingAlgorithms: readonly string[];
}

/** Fetches from the issuer; a fleet may trust it by an authority of its own. `form`: URL-encoded, to POST instead. */
export type Fetch = (url: string, form?: string, authorization?: string) => Promise<Response>;

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/** Between two tries to reach an issuer that does not answer. */
const RETRY_MS = 10_000;
const TIMEOUT_MS = 5_000;
const KEY_COOLDOWN_MS = 30_000;
/** An issuer's clock may be so far ahead, as upstream (go-oidc); after its end no token counts. */
const NOT_BEFORE_LEEWAY_SECONDS = 300;

export class OidcAuthenticator {
  readonly #settings: OidcSettings;
  readonly #fetch: Fetch;
  readonly #keyCooldownMs: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  #keys: Promise<KeySet> | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;

  /** `keyCooldownMs`: between two looks for a key that is not known. */
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

  /** Who the token is; undefined when it is another's, or not good. */
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
      // Names what is amiss, such as a claim, and never its value.
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.warn({ reason }, 'an ID token was refused');
      return undefined;
    }
  }

  /** Unverified: only to leave other issuers' tokens alone. */
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
      return Promise.reject(new Error('the issuer could not be reached a moment ago'));
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

  /** OpenID Connect Discovery 1.0: where the keys are, said by the issuer itself. */
  async #discover(): Promise<KeySet> {
    const { issuer } = this.#settings;
    const answer = await this.#fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (!answer.ok) throw new Error(`the issuer answers ${answer.status} to discovery`);
    const { issuer: named, jwks_uri: uri } = (await answer.json()) as Record<string, unknown>;
    if (named !== issuer) throw new Error(`the issuer calls itself ${JSON.stringify(named)}`);
    if (typeof uri !== 'string') throw new Error('the issuer does not say where its keys are');
    return createRemoteJWKSet(new URL(uri), {
      timeoutDuration: TIMEOUT_MS,
      cooldownDuration: this.#keyCooldownMs,
      [customFetch]: (url) => this.#fetch(url),
    });
  }
}

/** The user that verified claims name. Throws an Error that names the claim that is missing or wrong. */
export function oidcUser(claims: JWTPayload, settings: OidcSettings): UserInfo {
  const { usernameClaim, groupsClaim, groupsPrefix, requiredClaims } = settings;
  for (const [claim, value] of Object.entries(requiredClaims)) {
    if (claims[claim] !== value) throw new Error(`the required claim ${claim} is missing or another`);
  }
  const name = claims[usernameClaim];
  if (typeof name !== 'string' || name === '') throw new Error(`the claim ${usernameClaim} holds no name`);
  if (usernameClaim === 'email' && !isVerified(claims)) {
    throw new Error('the email of the token is not verified');
  }
  const groups = groupsClaim === undefined ? [] : listOf(claims[groupsClaim], groupsClaim);
  return {
    username: prefixOf(settings) + name,
    groups: withAuthenticated(groups.map((group) => groupsPrefix + group)),
  };
}

/** Of an issuer that says nothing of it, every address counts, as upstream. */
function isVerified({ email_verified: isTrue }: JWTPayload): boolean {
  return isTrue === undefined || isTrue === true;
}

function prefixOf({ usernamePrefix, usernameClaim, issuer }: OidcSettings): string {
  if (usernamePrefix === '-') return '';
  return usernamePrefix ?? (usernameClaim === 'email' ? '' : `${issuer}#`);
}

/** A claim may be one group or a list of them. */
function listOf(value: unknown, claim: string): string[] {
  if (value === undefined) return [];
  const values = Array.isArray(value) ? value : [value];
  if (values.every((item) => typeof item === 'string')) return values;
  throw new Error(`the claim ${claim} holds no list of names`);
}
