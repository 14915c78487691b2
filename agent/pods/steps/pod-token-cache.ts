/** Service account tokens of this host's Pods: requested from the coordinator, renewed in time, kept only in memory. */
import {
  DEFAULT_TOKEN_SECONDS,
  serviceAccountTokenSources,
  type TokenSource,
} from '../../../shared/kube/access/service-account-token.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';

/** A token of the Pod's service account, bound to the Pod. */
export interface TokenRequest {
  namespace: string;
  serviceAccount: string;
  pod: { name: string; uid: string };
  audience?: string;
  expirationSeconds: number;
}

/** `refused`: the coordinator rejected the request. If it cannot be reached, an Error is thrown instead. */
export type TokenResult = { token: string } | { refused: string };

export type RequestToken = (wish: TokenRequest) => Promise<TokenResult>;

interface Held {
  token: string;
  /** By the monotonic clock, ms. */
  renewAt: number;
}

/** Share of a token's lifetime after which it is renewed; after one day at the latest (pkg/kubelet/token). */
const RENEW_AFTER_SHARE = 0.8;
const LONGEST_MS = 24 * 60 * 60 * 1000;
/** Retry delay while the coordinator cannot be reached. */
const RETRY_MS = 10_000;

export class PodTokenCache {
  readonly #ask: RequestToken;
  readonly #clock: Clock;
  readonly #assigned = new Map<string, Map<string, Held>>();

  constructor(ask: RequestToken, clock: Clock) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /**
   * Requests the tokens that the Pod's volumes need. If the coordinator cannot be reached, the Pod starts without them.
   * Returns when to check again; undefined for a Pod without tokens. Throws an Error if a token is refused.
   */
  async ensure(pod: Pod): Promise<number | undefined> {
    const sources = serviceAccountTokenSources(pod);
    if (sources.length === 0) return undefined;
    const uid = pod.metadata.uid ?? '';
    const assigned = this.#assigned.get(uid) ?? new Map<string, Held>();
    this.#assigned.set(uid, assigned);
    const times = await Promise.all(sources.map((source) => this.#ensureOne(pod, source, assigned)));
    return Math.min(...times);
  }

  /** Returns the cached token of that source. */
  find(podUid: string, source: TokenSource): string | undefined {
    return this.#assigned.get(podUid)?.get(keyOf(source))?.token;
  }

  /** Returns the Pods with a token that is invalid at the coordinator's time, and marks these tokens for renewal. */
  podsWithInvalidTokensAt(hubTimeMs: number): string[] {
    const uids: string[] = [];
    for (const [uid, tokens] of this.#assigned) {
      const outdated = [...tokens.values()].filter(({ token }) => !isGoodAt(token, hubTimeMs));
      for (const assigned of outdated) assigned.renewAt = Number.NEGATIVE_INFINITY;
      if (outdated.length > 0) uids.push(uid);
    }
    return uids;
  }

  forget(podUid: string): void {
    this.#assigned.delete(podUid);
  }

  async #ensureOne(pod: Pod, source: TokenSource, assigned: Map<string, Held>): Promise<number> {
    const key = keyOf(source);
    const present = assigned.get(key);
    const now = this.#clock.now();
    if (present && present.renewAt > now) return present.renewAt;
    const expirationSeconds = source.expirationSeconds ?? DEFAULT_TOKEN_SECONDS;
    let answer: TokenResult;
    try {
      answer = await this.#ask(wishOf(pod, source, expirationSeconds));
    } catch {
      // The coordinator cannot be reached: keep the old token and retry soon.
      return now + RETRY_MS;
    }
    if ('refused' in answer) throw new Error(`failed to fetch token: ${answer.refused}`);
    const renewAt = now + Math.min(expirationSeconds * 1000 * RENEW_AFTER_SHARE, LONGEST_MS);
    assigned.set(key, { token: answer.token, renewAt });
    return renewAt;
  }
}

/** Compares with the times in the token (RFC 7519); a token without times is valid. */
function isGoodAt(token: string, timeMs: number): boolean {
  const { nbf = 0, exp = Number.POSITIVE_INFINITY } = timesIn(token);
  return nbf * 1000 <= timeMs && timeMs < exp * 1000;
}

function timesIn(token: string): { nbf?: number; exp?: number } {
  try {
    const [, claims = ''] = token.split('.');
    return JSON.parse(Buffer.from(claims, 'base64url').toString()) as { nbf?: number; exp?: number };
  } catch {
    // An opaque token, which only its issuer can decode.
    return {};
  }
}

function keyOf({ audience = '', expirationSeconds = DEFAULT_TOKEN_SECONDS }: TokenSource): string {
  return `${expirationSeconds} ${audience}`;
}

function wishOf({ metadata, spec }: Pod, { audience }: TokenSource, expirationSeconds: number): TokenRequest {
  return {
    namespace: metadata.namespace ?? '',
    serviceAccount: spec.serviceAccountName ?? 'default',
    pod: { name: metadata.name, uid: metadata.uid ?? '' },
    ...(audience ? { audience } : {}),
    expirationSeconds,
  };
}
