/**
 * Who may call the kubelet's port: callers are identified by a client certificate or a bearer token, and authorized by
 * the coordinator, like a kubelet in webhook mode. Anonymous callers are refused.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../../shared/process/time/clock.js';

import { PeerBuckets, TokenBucket } from './caller-limits.js';
import { type KubeletAccess, kubeletAttributes } from './kubelet-attributes.js';
import { VerdictCache } from './verdict-cache.js';

/** The user of a request. */
export interface Caller {
  username: string;
  groups: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** Verdicts of the coordinator. They reject if it gives none. */
export interface KubeletReviewer {
  userOfToken(token: string): Promise<Caller | undefined>;
  isAllowed(caller: Caller, access: KubeletAccess): Promise<boolean>;
}

/** `text` is the kubelet's. */
type AccessVerdict = { allowed: true } | { allowed: false; status: 401 | 403 | 429 | 500; text: string };

/** Lifetimes of a kubelet's webhook caches (KubeletConfiguration `authentication.webhook`, `authorization.webhook`). */
const TOKEN_MS = 2 * 60_000;
const ALLOWED_MS = 5 * 60_000;
const DENIED_MS = 30_000;
const MAX_ENTRIES = 512;
/** Reviews per second for unknown tokens and accesses, so that no caller makes the host flood its coordinator. */
const REVIEWS_PER_SECOND = 10;
const REVIEW_BURST = 40;
/** Reviews of tokens for each network of callers: guesses must not use up the reviews of real callers. */
const TOKENS_PER_SECOND = 1;
const TOKEN_BURST = 10;

const UNAUTHORIZED: AccessVerdict = { allowed: false, status: 401, text: 'Unauthorized' };
const TOO_MANY: AccessVerdict = { allowed: false, status: 429, text: 'Too many requests' };

/** Thrown if the reviews of this second are used up. */
class ReviewLimitError extends Error {}

export class KubeletAccessControl {
  readonly #reviewer: KubeletReviewer;
  readonly #node: string;
  /** Wrong tokens have a cache of their own: guesses must not push out the verdicts of real callers. */
  readonly #users: VerdictCache<Caller | undefined>;
  readonly #wrongTokens: VerdictCache<true>;
  readonly #allowed: VerdictCache<true>;
  readonly #denied: VerdictCache<true>;
  readonly #decisions: VerdictCache<boolean>;
  readonly #budget: TokenBucket;
  readonly #tokens: PeerBuckets;

  constructor(node: string, reviewer: KubeletReviewer, clock: Clock) {
    this.#node = node;
    this.#reviewer = reviewer;
    this.#users = new VerdictCache(clock, MAX_ENTRIES);
    this.#wrongTokens = new VerdictCache(clock, MAX_ENTRIES);
    this.#allowed = new VerdictCache(clock, MAX_ENTRIES);
    this.#denied = new VerdictCache(clock, MAX_ENTRIES);
    this.#decisions = new VerdictCache(clock, MAX_ENTRIES);
    this.#budget = new TokenBucket(clock, REVIEWS_PER_SECOND, REVIEW_BURST);
    this.#tokens = new PeerBuckets(clock, TOKENS_PER_SECOND, TOKEN_BURST);
  }

  /** Decides about a request. `peer`: the network of the caller. `certified`: the user of a valid client certificate. Never rejects. */
  async check(
    request: { method: string; path: string; authorization?: string | undefined; peer: string },
    certified: Caller | undefined,
  ): Promise<AccessVerdict> {
    try {
      const caller = certified ?? (await this.#callerOf(request.authorization, request.peer));
      if (!caller) return UNAUTHORIZED;
      return await this.#authorize(caller, kubeletAttributes(request.method, request.path, this.#node));
    } catch (error) {
      // The coordinator is not reachable: like a kubelet, refuse callers whose verdicts have expired.
      return error instanceof ReviewLimitError ? TOO_MANY : UNAUTHORIZED;
    }
  }

  async #callerOf(authorization: string | undefined, peer: string): Promise<Caller | undefined> {
    const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    if (token === undefined) return undefined;
    // The token itself must not stay in memory.
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#users.get(key);
    if (known) return known;
    if (this.#wrongTokens.get(key)) return undefined;
    return this.#users.share(key, async () => {
      if (!this.#tokens.take(peer)) throw new ReviewLimitError();
      this.#take();
      const user = await this.#reviewer.userOfToken(token);
      if (user) this.#users.put(key, user, TOKEN_MS);
      else this.#wrongTokens.put(key, true, TOKEN_MS);
      return user;
    });
  }

  async #authorize(caller: Caller, accesses: readonly KubeletAccess[]): Promise<AccessVerdict> {
    const [first] = accesses;
    const described = (subresource: string) =>
      `(user=${caller.username}, verb=${first?.verb}, resource=nodes, subresource(s)=[${subresource}])`;
    try {
      for (const access of accesses) if (await this.#isAllowed(caller, access)) return { allowed: true };
    } catch (error) {
      if (error instanceof ReviewLimitError) throw error;
      const text = `Authorization error ${described(first?.subresource ?? '')}`;
      return { allowed: false, status: 500, text };
    }
    const tried = accesses.map(({ subresource }) => subresource).join(' ');
    return { allowed: false, status: 403, text: `Forbidden ${described(tried)}` };
  }

  async #isAllowed(caller: Caller, access: KubeletAccess): Promise<boolean> {
    const { username, uid, groups, extra } = caller;
    const key = JSON.stringify([username, uid, groups, extra, access.verb, access.subresource]);
    if (this.#allowed.get(key)) return true;
    if (this.#denied.get(key)) return false;
    return this.#decisions.share(key, async () => {
      this.#take();
      const isAllowed = await this.#reviewer.isAllowed(caller, access);
      if (isAllowed) this.#allowed.put(key, true, ALLOWED_MS);
      else this.#denied.put(key, true, DENIED_MS);
      return isAllowed;
    });
  }

  /** Throws if the reviews of this second are used up. */
  #take(): void {
    if (!this.#budget.take()) throw new ReviewLimitError();
  }
}
