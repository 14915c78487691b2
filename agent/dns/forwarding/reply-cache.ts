/** Cached replies of the host's resolvers. */
import type { Clock } from '../../../shared/process/time/clock.js';
import type { ForwardedReply } from '../messages/forwarded-message.js';

interface CachedReply {
  reply: ForwardedReply;
  storedAt: number;
  expiresAt: number;
}

/** Bounds memory to about 2 MB. */
const MAX_ENTRIES = 2_000;
const MAX_REPLY_BYTES = 4_096;
/** Short, because a host that changes its network must not use addresses of the earlier one for long. */
const MAX_POSITIVE_SECONDS = 60;
const MAX_NEGATIVE_SECONDS = 10;

export class ReplyCache {
  readonly #clock: Clock;
  /** In order of last use. */
  readonly #replies = new Map<string, CachedReply>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#replies.size;
  }

  /** Returns a reply that has not expired, with its age in whole seconds. */
  find(key: string): (ForwardedReply & { ageSeconds: number }) | undefined {
    const cached = this.#replies.get(key);
    if (!cached) return undefined;
    const now = this.#clock.monotonic();
    this.#replies.delete(key);
    if (now >= cached.expiresAt) return undefined;
    this.#replies.set(key, cached);
    return { ...cached.reply, ageSeconds: Math.floor((now - cached.storedAt) / 1000) };
  }

  put(key: string, reply: ForwardedReply): void {
    const isNegative = reply.rcode !== 0 || reply.bytes.readUInt16BE(6) === 0;
    const seconds = Math.min(reply.cacheSeconds, isNegative ? MAX_NEGATIVE_SECONDS : MAX_POSITIVE_SECONDS);
    if (seconds <= 0 || reply.bytes.length > MAX_REPLY_BYTES) return;
    const now = this.#clock.monotonic();
    this.#replies.delete(key);
    this.#replies.set(key, { reply, storedAt: now, expiresAt: now + seconds * 1000 });
    const [oldest] = this.#replies.keys();
    if (this.#replies.size > MAX_ENTRIES && oldest !== undefined) this.#replies.delete(oldest);
  }

  clear(): void {
    this.#replies.clear();
  }
}
