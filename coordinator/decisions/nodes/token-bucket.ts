/** A rate limiter for one thing at a time (client-go util/flowcontrol with a burst of 1; scheduler/rate_limited_queue.go SwapLimiter). */

/** `tokens` from 0 to 1 as of `at`; times in ms by a clock that never jumps. */
export interface Bucket {
  tokens: number;
  at: number;
  /** Tokens a second. */
  rate: number;
}

/** A bucket that gives its first token at once. */
export function fullBucket(rate: number, now: number): Bucket {
  return { tokens: rate > 0 ? 1 : 0, at: now, rate };
}

/** How long until it gives a token, ms; 0 = now, infinite while its rate is 0. */
export function msToToken({ tokens, at, rate }: Bucket, now: number): number {
  if (rate <= 0) return Number.POSITIVE_INFINITY;
  const missing = 1 - tokens - ((now - at) * rate) / 1_000;
  return missing <= 0 ? 0 : Math.ceil((missing * 1_000) / rate);
}

/** The bucket without the token that it has given just now. */
export function afterTaking({ rate }: Bucket, now: number): Bucket {
  return { tokens: 0, at: now, rate };
}

/** The bucket at another rate: it gives at once only what the old one would have given at once. */
export function atRate(bucket: Bucket, rate: number, now: number): Bucket {
  if (rate === bucket.rate) return bucket;
  return msToToken(bucket, now) === 0 ? fullBucket(rate, now) : { tokens: 0, at: now, rate };
}
