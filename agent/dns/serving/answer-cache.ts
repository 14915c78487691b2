/**
 * Replies to queries over UDP that Pods repeat. A key is the whole query without its id, so a reply repeats its question
 * with the case of letters, and respects its options. Only queries that were decoded are cached, so an equal query needs no
 * decoder.
 */
import type { Clock } from '../../../shared/process/time/clock.js';
import type { AnswerReuse } from '../../decisions/dns/answer-reuse.js';
import { HEADER_BYTES } from '../messages/dns-query.js';

interface CachedAnswer {
  bytes: Uint8Array;
  /** Offset of the answer's records. */
  start: number;
  /** Size of each record; 0 if they cannot be rotated. */
  recordBytes: number;
  /** Number of records that can be rotated. */
  count: number;
}

interface NewAnswer {
  reply: Buffer;
  /** Offset of the answer's records in the reply. */
  answersOffset: number;
  reuse: AnswerReuse;
  /** That of the Services before the lookup. */
  revision: number;
}

/** Bounds memory to about 0.5 MB. A UDP reply has at most 1,232 bytes. */
const MAX_ANSWERS = 256;
/** A header, the longest name with type and class, and EDNS. Longer queries have options that differ each time. */
const MAX_QUERY_BYTES = HEADER_BYTES + 255 + 4 + 11;
const ANSWER_COUNT_OFFSET = 6;
/** Short, because a lookup also renews the host's interest in the Service, and namespaces change without a revision. */
const MAX_AGE_MS = 1_000;

export class AnswerCache {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #answers = new Map<string, CachedAnswer>();
  /** Of the Services, for all answers. */
  #revision = -1;
  #endsAt = 0;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  get size(): number {
    return this.#answers.size;
  }

  /** Returns a reply to an equal query, for this query. `revision`: the current one of the Services. */
  find(query: Buffer, revision: number): Buffer | undefined {
    const now = this.#clock.monotonic();
    if (revision !== this.#revision || now >= this.#endsAt) {
      this.#answers.clear();
      this.#revision = revision;
      this.#endsAt = now + MAX_AGE_MS;
      return undefined;
    }
    if (query.length > MAX_QUERY_BYTES) return undefined;
    const answer = this.#answers.get(keyOf(query));
    return answer && this.#replyTo(query, answer);
  }

  /** An answer of an earlier revision than the current one is not stored. */
  put(query: Buffer, { reply, answersOffset, reuse, revision }: NewAnswer): void {
    if (reuse.kind === 'none' || revision !== this.#revision || query.length > MAX_QUERY_BYTES) return;
    const [oldest] = this.#answers.keys();
    if (this.#answers.size >= MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
    const recordBytes = reuse.kind === 'rotated' ? reuse.recordBytes : 0;
    this.#answers.set(keyOf(query), {
      // A copy of its own: a small Buffer is a part of a larger one, which would stay in memory.
      bytes: Uint8Array.from(reply),
      start: answersOffset,
      recordBytes,
      count: recordBytes > 0 ? reply.readUInt16BE(ANSWER_COUNT_OFFSET) : 0,
    });
  }

  /** Each address is equally often the first, like in a new reply. */
  #replyTo(query: Buffer, { bytes, start, count, recordBytes }: CachedAnswer): Buffer {
    const reply = Buffer.allocUnsafe(bytes.length);
    reply.set(bytes);
    if (count > 1) {
      const first = start + Math.floor(this.#random() * count) * recordBytes;
      const end = start + count * recordBytes;
      reply.set(bytes.subarray(first, end), start);
      reply.set(bytes.subarray(start, first), start + end - first);
    }
    reply[0] = query[0] ?? 0;
    reply[1] = query[1] ?? 0;
    return reply;
  }
}

/** Returns all but the id. */
function keyOf(query: Buffer): string {
  return query.toString('latin1', 2);
}
