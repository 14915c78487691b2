/** The tokens of this host's Pods: asked of the coordinator, renewed in time, kept in memory alone. */
import {
  DEFAULT_TOKEN_SECONDS,
  serviceAccountTokenSources,
  type TokenSource,
} from '../../../shared/kube/access/service-account-token.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';

/** What is asked for: a token of the Pod's account, bound to the Pod. */
export interface TokenRequest {
  namespace: string;
  serviceAccount: string;
  pod: { name: string; uid: string };
  audience?: string;
  expirationSeconds: number;
}

/** `refused`: the coordinator says no. Anything else that goes wrong is an Error: it is not in reach. */
export type TokenResult = { token: string } | { refused: string };

export type RequestToken = (wish: TokenRequest) => Promise<TokenResult>;

interface Held {
  token: string;
  /** By the steady clock, ms. */
  renewAt: number;
}

/** Of a token's life; but no token is kept for more than a day (pkg/kubelet/token). */
const RENEW_AFTER_SHARE = 0.8;
const LONGEST_MS = 24 * 60 * 60 * 1000;
/** How soon a coordinator that was not in reach is asked again. */
const RETRY_MS = 10_000;

export class PodTokenCache {
  readonly #ask: RequestToken;
  readonly #clock: Clock;
  readonly #held = new Map<string, Map<string, Held>>();

  constructor(ask: RequestToken, clock: Clock) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /**
   * Has what the Pod's volumes ask for, as far as the coordinator is in reach: a Pod starts without, and gets it later.
   * Answers when to look again, undefined for a Pod that asks for none. Throws an Error when a token is refused.
   */
  async ensure(pod: Pod): Promise<number | undefined> {
    const sources = serviceAccountTokenSources(pod);
    if (sources.length === 0) return undefined;
    const uid = pod.metadata.uid ?? '';
    const held = this.#held.get(uid) ?? new Map<string, Held>();
    this.#held.set(uid, held);
    const times = await Promise.all(sources.map((source) => this.#ensureOne(pod, source, held)));
    return Math.min(...times);
  }

  /** The token for that source, as it is held now. */
  find(podUid: string, source: TokenSource): string | undefined {
    return this.#held.get(podUid)?.get(keyOf(source))?.token;
  }

  /** Pods with a token that is not good at this time of the coordinator's, whose clock was set: they get others when they look again. */
  podsWithInvalidTokensAt(hubTimeMs: number): string[] {
    const uids: string[] = [];
    for (const [uid, tokens] of this.#held) {
      const outdated = [...tokens.values()].filter(({ token }) => !isGoodAt(token, hubTimeMs));
      for (const held of outdated) held.renewAt = Number.NEGATIVE_INFINITY;
      if (outdated.length > 0) uids.push(uid);
    }
    return uids;
  }

  forget(podUid: string): void {
    this.#held.delete(podUid);
  }

  async #ensureOne(pod: Pod, source: TokenSource, held: Map<string, Held>): Promise<number> {
    const key = keyOf(source);
    const present = held.get(key);
    const now = this.#clock.now();
    if (present && present.renewAt > now) return present.renewAt;
    const expirationSeconds = source.expirationSeconds ?? DEFAULT_TOKEN_SECONDS;
    let answer: TokenResult;
    try {
      answer = await this.#ask(wishOf(pod, source, expirationSeconds));
    } catch {
      // Not in reach: what is held stays, and it is asked again soon.
      return now + RETRY_MS;
    }
    if ('refused' in answer) throw new Error(`failed to fetch token: ${answer.refused}`);
    const renewAt = now + Math.min(expirationSeconds * 1000 * RENEW_AFTER_SHARE, LONGEST_MS);
    held.set(key, { token: answer.token, renewAt });
    return renewAt;
  }
}

/** By the times that the token itself names (RFC 7519); one that names none is good. */
function isGoodAt(token: string, timeMs: number): boolean {
  const { nbf = 0, exp = Number.POSITIVE_INFINITY } = timesIn(token);
  return nbf * 1000 <= timeMs && timeMs < exp * 1000;
}

function timesIn(token: string): { nbf?: number; exp?: number } {
  try {
    const [, claims = ''] = token.split('.');
    return JSON.parse(Buffer.from(claims, 'base64url').toString()) as { nbf?: number; exp?: number };
  } catch {
    // Of a form that only its issuer knows.
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
