/**
 * Limits the bytes of streams in flight on a link. Status reports cannot overtake bytes that the socket has accepted,
 * so on a slow line a log would delay them by seconds. Both ends acknowledge received bytes. The sender keeps as few
 * bytes in flight as still saturate the line, like LEDBAT (RFC 6817): growing delay indicates a queue.
 */
import { STREAM_CHUNK_BYTES } from '../messages/link-messages.js';

/** Minimum window. Only lines below 300 KB/s need longer than `QUEUE_MS` for it. */
const MIN_BYTES = 4 * STREAM_CHUNK_BYTES;
const MAX_BYTES = 1024 * 1024;
/** Tolerated queueing delay on top of the line's base delay. */
const QUEUE_MS = 200;
/** The base delay can change. It is forgotten after one to two epochs. */
const EPOCH_MS = 30_000;

interface InFlight {
  bytes: number;
  sentAt: number;
  /** Number of window cuts when these bytes were sent. */
  cut: number;
}

export class StreamCongestion {
  readonly #now: () => number;
  #isEnabled = false;
  #window = 2 * MIN_BYTES;
  #bytes = 0;
  #cuts = 0;
  readonly #inFlight: InFlight[] = [];
  readonly #waiting: (() => void)[] = [];
  #least = { delayMs: Number.POSITIVE_INFINITY, beforeMs: Number.POSITIVE_INFINITY, since: 0 };

  /** `now` returns monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Resolves when these bytes may be sent: at once if the other end does not acknowledge. Streams take turns. */
  async waitForWindow(bytes: number): Promise<void> {
    if (!this.#isEnabled) return;
    if (this.#waiting.length > 0 || !this.#hasRoom()) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#bytes += bytes;
    this.#inFlight.push({ bytes, sentAt: this.#now(), cut: this.#cuts });
  }

  /** The other end acknowledged the oldest `bytes` in flight. */
  acknowledge(bytes: number): void {
    for (let left = bytes; left > 0; ) {
      const oldest = this.#inFlight[0];
      if (!oldest) break;
      const part = Math.min(left, oldest.bytes);
      left -= part;
      oldest.bytes -= part;
      this.#bytes -= part;
      if (oldest.bytes > 0) break;
      this.#inFlight.shift();
      this.#learn(this.#now() - oldest.sentAt, oldest.cut, part);
    }
    this.#release();
  }

  /** Starts to limit: the other end sends acknowledgements. */
  enable(): void {
    this.#isEnabled = true;
  }

  /** The link is closed. All waiting calls resolve. */
  close(): void {
    this.#isEnabled = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #hasRoom(): boolean {
    return this.#bytes < this.#window;
  }

  #learn(delayMs: number, cut: number, bytes: number): void {
    if (delayMs > this.#leastDelay(delayMs) + QUEUE_MS) {
      // Bytes sent before the last cut only reflect the larger window.
      if (cut < this.#cuts) return;
      this.#cuts += 1;
      this.#window = Math.max(MIN_BYTES, this.#window / 2);
    } else if (this.#waiting.length > 0) {
      this.#window = Math.min(MAX_BYTES, this.#window + bytes);
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

  /** Several waiting calls can continue in one turn of the event loop, before they add their bytes. */
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
