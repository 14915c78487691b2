/** A rate limiter with a burst of 1 (client-go util/flowcontrol; scheduler/rate_limited_queue.go SwapLimiter). */

/** `tokens` from 0 to 1 at the time `at`. Monotonic times in ms. */
export interface Bucket {
  tokens: number;
  at: number;
  /** Tokens per second. */
  rate: number;
}

/** Returns a bucket with one token. */
export function fullBucket(rate: number, now: number): Bucket {
  return { tokens: rate > 0 ? 1 : 0, at: now, rate };
}

/** Returns the time until the next token in ms: 0 if there is one, infinite if the rate is 0. */
export function msToToken({ tokens, at, rate }: Bucket, now: number): number {
  if (rate <= 0) return Number.POSITIVE_INFINITY;
  const missing = 1 - tokens - ((now - at) * rate) / 1_000;
  return missing <= 0 ? 0 : Math.ceil((missing * 1_000) / rate);
}

/** Returns the bucket after its token was taken. */
export function afterTaking({ rate }: Bucket, now: number): Bucket {
  return { tokens: 0, at: now, rate };
}

/** Returns the bucket with another rate. It has a token only if the old one had one. */
export function atRate(bucket: Bucket, rate: number, now: number): Bucket {
  if (rate === bucket.rate) return bucket;
  return msToToken(bucket, now) === 0 ? fullBucket(rate, now) : { tokens: 0, at: now, rate };
}
