/** How many requests one client may make: a bucket of tokens each, so that no client's loop starves the others. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';

export interface ClientLimitSettings {
  /** What one client may ask for in the long run. 0 = as much as it likes. */
  requestsPerSecond: number;
  /** What it may ask for at once after a rest. */
  burst: number;
}

/** Four times what kubectl allows itself (50 a second, 300 at once). */
export const DEFAULT_CLIENT_LIMITS: ClientLimitSettings = { requestsPerSecond: 200, burst: 1_200 };

/** Clients remembered; above this those whose buckets are full again are forgotten. */
const MAX_CLIENTS = 10_000;

interface Bucket {
  tokens: number;
  /** When `tokens` was right, by the monotonic clock. */
  at: number;
}

export class ClientLimits {
  readonly #buckets = new Map<string, Bucket>();

  constructor(
    private readonly settings: ClientLimitSettings,
    private readonly clock: Clock,
  ) {}

  /** Takes a token of this client. Throws 429, with the whole seconds until there will be one. */
  take(client: string): void {
    const { requestsPerSecond, burst } = this.settings;
    if (requestsPerSecond === 0) return;
    const bucket = this.#filled(client);
    if (bucket.tokens < 1) {
      const retryAfterSeconds = Math.ceil((1 - bucket.tokens) / requestsPerSecond);
      const message = `this client makes more than ${requestsPerSecond} requests per second, please try again later`;
      throw new ApiError('TooManyRequests', message, { retryAfterSeconds });
    }
    bucket.tokens -= 1;
    if (this.#buckets.size > MAX_CLIENTS) this.#forgetRested(burst);
  }

  /** Throws 429 when this client has no token left; takes none. */
  refuseIfExhausted(client: string): void {
    const { requestsPerSecond } = this.settings;
    if (requestsPerSecond === 0) return;
    const { tokens } = this.#filled(client);
    if (tokens >= 1) return;
    const retryAfterSeconds = Math.ceil((1 - tokens) / requestsPerSecond);
    const message = 'too many refused requests of this client, please try again later';
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

  /** A full bucket says as much as none. When all are in use the oldest go: their clients begin anew. */
  #forgetRested(burst: number): void {
    for (const client of [...this.#buckets.keys()]) {
      if (this.#filled(client).tokens >= burst) this.#buckets.delete(client);
    }
    const surplus = Math.max(0, this.#buckets.size - MAX_CLIENTS);
    for (const client of [...this.#buckets.keys()].slice(0, surplus)) this.#buckets.delete(client);
  }
}
