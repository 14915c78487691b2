/**
 * Streams of bytes inside the link. Opening one grants its writer `STREAM_WINDOW_BYTES`; the reader grants more as it
 * consumes, and the writer never sends beyond what was granted, so neither end buffers more than a window.
 */
import type { StatusReason } from '../../kube/objects/api-status.js';
import { STREAM_CHUNK_BYTES, STREAM_WINDOW_BYTES } from '../messages/link-messages.js';

/** A stream that was refused or broke, in words for the reader. */
export class StreamError extends Error {
  constructor(
    readonly reason: StatusReason,
    message: string,
  ) {
    super(message);
    this.name = 'StreamError';
  }
}

/** The writing end: cuts a source into chunks and sends them as credit allows. */
export class StreamWriter {
  #credit = STREAM_WINDOW_BYTES;
  #wake: (() => void) | undefined;
  readonly #abort = new AbortController();

  /** Aborts when the reader left or the link broke. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The reader has room for so many bytes more. */
  addCredit(bytes: number): void {
    this.#credit = Math.min(this.#credit + bytes, STREAM_WINDOW_BYTES);
    this.#wake?.();
  }

  /** Stops `pump`; nothing is sent any more. */
  close(): void {
    this.#abort.abort();
    this.#wake?.();
  }

  /**
   * Sends all of `source`; `send` resolves when the transport took the chunk, so that what is more urgent gets ahead.
   * A piece of at most `STREAM_CHUNK_BYTES` stays whole. Resolves at the source's end or after `close`; rejects as the source does.
   */
  async pump(source: AsyncIterable<Uint8Array>, send: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    for await (const bytes of source) {
      for (let at = 0; at < bytes.length; ) {
        const size = Math.min(bytes.length - at, STREAM_CHUNK_BYTES);
        if (!(await this.#take(size))) return;
        await send(bytes.subarray(at, at + size));
        at += size;
      }
      if (this.signal.aborted) return;
    }
  }

  /** Takes so many bytes of credit, waiting for them; false after `close`. */
  async #take(size: number): Promise<boolean> {
    while (this.#credit < size && !this.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.signal.aborted) return false;
    this.#credit -= size;
    return true;
  }
}

/** How a stream is over: at its end, or broken. */
type Outcome = { error?: StreamError };

/** The reading end: chunks in order, then the end or a `StreamError`. For one consumer. */
export class StreamReader implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  #outcome: Outcome | undefined;
  #outstanding = STREAM_WINDOW_BYTES;
  #consumed = 0;
  #wake: (() => void) | undefined;
  readonly #grant: (bytes: number) => void;
  readonly #left: () => void;

  /** `grant` tells the writer of more room; `left` is called when the consumer stops before the end. */
  constructor(grant: (bytes: number) => void, left: () => void) {
    this.#grant = grant;
    this.#left = left;
  }

  /** Takes a chunk in. False when the writer went beyond its credit: the stream is broken then. */
  push(chunk: Uint8Array): boolean {
    if (this.#outcome) return true;
    if (chunk.length > this.#outstanding) {
      this.end(new StreamError('InternalError', 'more was sent than was granted'));
      return false;
    }
    this.#outstanding -= chunk.length;
    this.#chunks.push(chunk);
    this.#wake?.();
    return true;
  }

  /** No more chunks come; those taken in are still delivered. The first call counts. */
  end(error?: StreamError): void {
    this.#outcome ??= error ? { error } : {};
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk) {
          this.#credit(chunk.length);
          yield chunk;
        } else if (this.#outcome) {
          if (this.#outcome.error) throw this.#outcome.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      if (!this.#outcome) this.#left();
      this.end();
    }
  }

  /** Grants in steps of half a window: a credit message for every chunk would double the frames. */
  #credit(bytes: number): void {
    this.#consumed += bytes;
    if (this.#consumed < STREAM_WINDOW_BYTES / 2 || this.#outcome) return;
    this.#outstanding += this.#consumed;
    this.#grant(this.#consumed);
    this.#consumed = 0;
  }
}
