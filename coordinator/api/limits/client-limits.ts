/** Rate limit per client: a token bucket each, so that a client in a loop does not starve the others. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';

export interface ClientLimitSettings {
  /** Sustained rate; 0 = unlimited. */
  requestsPerSecond: number;
  /** Number of requests that an idle client may send at once. */
  burst: number;
}

/** Four times kubectl's own limits (50 per second, burst 300). */
export const DEFAULT_CLIENT_LIMITS: ClientLimitSettings = { requestsPerSecond: 200, burst: 1_200 };

/** Longest wait for a token. A client that would wait longer is refused at once. */
const LONGEST_WAIT_MS = 100;

/** Maximum number of buckets. Above it, full buckets are removed. */
const MAX_CLIENTS = 10_000;

interface Bucket {
  tokens: number;
  /** Monotonic time at which `tokens` was computed. */
  at: number;
}

export class ClientLimits {
  readonly #buckets = new Map<string, Bucket>();

  constructor(
    private readonly settings: ClientLimitSettings,
    private readonly clock: Clock,
  ) {}

  /** Takes a token of this client. Throws 429 with the seconds until the next token. */
  take(client: string): void {
    const { requestsPerSecond, burst } = this.settings;
    if (requestsPerSecond === 0) return;
    const bucket = this.#filled(client);
    if (bucket.tokens < 1) {
      const retryAfterSeconds = Math.ceil((1 - bucket.tokens) / requestsPerSecond);
      const message = `this client sends more than ${requestsPerSecond} requests per second, please try again later`;
      throw new ApiError('TooManyRequests', message, { retryAfterSeconds });
    }
    bucket.tokens -= 1;
    if (this.#buckets.size > MAX_CLIENTS) this.#forgetRested(burst);
  }

  /**
   * Returns the ms until this client has a token, 0 if it has one or if the wait is too long. A client that sends one
   * request after the other keeps its rate by this wait. Without it the client gets a 429, which many clients do not
   * retry. Of requests that wait at the same time, one gets the token.
   */
  waitMs(client: string): number {
    const { requestsPerSecond } = this.settings;
    if (requestsPerSecond === 0) return 0;
    const { tokens } = this.#filled(client);
    if (tokens >= 1) return 0;
    // A timer can fire up to 1 ms early.
    const ms = Math.ceil(((1 - tokens) / requestsPerSecond) * 1000) + 1;
    return ms > LONGEST_WAIT_MS ? 0 : ms;
  }

  /** Throws 429 if this client has no token left. Takes none. */
  refuseIfExhausted(client: string): void {
    const { requestsPerSecond } = this.settings;
    if (requestsPerSecond === 0) return;
    const { tokens } = this.#filled(client);
    if (tokens >= 1) return;
    const retryAfterSeconds = Math.ceil((1 - tokens) / requestsPerSecond);
    const message = 'too many rejected requests from this client, please try again later';
    throw new ApiError('TooManyRequests', message, { retryAfterSeconds });
  }

  #filled(client: string): Bucket {
    const { requestsPerSecond, burst } = this.settings;
    const now = this.clock.monotonic();
    const bucket = this.#buckets.get(client) ?? { tokens: burst, at: now };
    const gained = ((now - bucket.at) / 1000) * requestsPerSecond;
    bucket.tokens = Math.min(burst, bucket.tokens + gained);
    bucket.at = now;
    this.#buckets.set(client, bucket);
    return bucket;
  }

  /**
   * Removes full buckets, because a new bucket is full, too. If none is full, removes the oldest ones, whose clients
   * then start again.
   */
  #forgetRested(burst: number): void {
    for (const client of [...this.#buckets.keys()]) {
      if (this.#filled(client).tokens >= burst) this.#buckets.delete(client);
    }
    const surplus = Math.max(0, this.#buckets.size - MAX_CLIENTS);
    for (const client of [...this.#buckets.keys()].slice(0, surplus)) this.#buckets.delete(client);
  }
}
