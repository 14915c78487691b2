/**
 * How many bytes of streams may be on their way over one link. What a socket has taken cannot be overtaken any more:
 * a log would put seconds of itself before every report on a slow line. So each end tells what has arrived, and the
 * other keeps as little under way as still fills the line (the idea of LEDBAT, RFC 6817: delay tells of a queue).
 */
import { STREAM_CHUNK_BYTES } from '../messages/link-messages.js';

/** A line that carries less than 300 KB/s makes a report wait longer than `QUEUE_MS` for these; a busy host is no slow line. */
const LEAST_BYTES = 4 * STREAM_CHUNK_BYTES;
const MOST_BYTES = 1024 * 1024;
/** Above the line's own delay, which is what a report may have to wait. */
const QUEUE_MS = 200;
/** A line may change: its least delay is forgotten after one to two of these. */
const EPOCH_MS = 30_000;

interface UnderWay {
  bytes: number;
  sentAt: number;
  /** A later cut of the window is about these bytes as well. */
  cut: number;
}

export class StreamCongestion {
  readonly #now: () => number;
  #isTold = false;
  #window = 2 * LEAST_BYTES;
  #bytes = 0;
  #cuts = 0;
  readonly #underWay: UnderWay[] = [];
  readonly #waiting: (() => void)[] = [];
  #least = { delayMs: Number.POSITIVE_INFINITY, beforeMs: Number.POSITIVE_INFINITY, since: 0 };

  /** `now` in ms, never jumping. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Resolves when these bytes may be sent, to each stream in turn; at once when the other end does not tell of arrivals. */
  async waitForWindow(bytes: number): Promise<void> {
    if (!this.#isTold) return;
    if (this.#waiting.length > 0 || !this.#hasRoom()) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#bytes += bytes;
    this.#underWay.push({ bytes, sentAt: this.#now(), cut: this.#cuts });
  }

  /** The other end has the oldest `bytes` that were under way. */
  acknowledge(bytes: number): void {
    for (let left = bytes; left > 0; ) {
      const oldest = this.#underWay[0];
      if (!oldest) break;
      const part = Math.min(left, oldest.bytes);
      left -= part;
      oldest.bytes -= part;
      this.#bytes -= part;
      if (oldest.bytes > 0) break;
      this.#underWay.shift();
      this.#learn(this.#now() - oldest.sentAt, oldest.cut, part);
    }
    this.#release();
  }

  /** From now on the other end tells what has arrived. */
  enable(): void {
    this.#isTold = true;
  }

  /** The link is gone: nobody waits any more. */
  close(): void {
    this.#isTold = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #hasRoom(): boolean {
    return this.#bytes < this.#window;
  }

  #learn(delayMs: number, cut: number, bytes: number): void {
    if (delayMs > this.#leastDelay(delayMs) + QUEUE_MS) {
      // What was sent before the last cut tells of the time before it.
      if (cut < this.#cuts) return;
      this.#cuts += 1;
      this.#window = Math.max(LEAST_BYTES, this.#window / 2);
    } else if (this.#waiting.length > 0) {
      this.#window = Math.min(MOST_BYTES, this.#window + bytes);
    }
  }

  #leastDelay(delayMs: number): number {
    const least = this.#least;
    if (this.#now() - least.since > EPOCH_MS) {
      this.#least = { delayMs, beforeMs: least.delayMs, since: this.#now() };
    } else {
      least.delayMs = Math.min(least.delayMs, delayMs);
    }
    return Math.min(this.#least.delayMs, this.#least.beforeMs);
  }

  /** One turn of the event loop may let several go. Each counts itself in before the next looks. */
  #release(): void {
    let room = this.#window - this.#bytes;
    while (room > 0) {
      const next = this.#waiting.shift();
      if (!next) return;
      next();
      room -= STREAM_CHUNK_BYTES;
    }
  }
}
