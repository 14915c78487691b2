/**
 * Byte streams within the link. Opening a stream grants its writer `STREAM_WINDOW_BYTES` of credit. The reader grants
 * more as it consumes. The writer never exceeds its credit, so neither end buffers more than one window.
 */
import type { StatusReason } from '../../kube/objects/api-status.js';
import { STREAM_CHUNK_BYTES, STREAM_WINDOW_BYTES } from '../messages/link-messages.js';

/** A rejected or broken stream. The message is shown to the reader. */
export class StreamError extends Error {
  constructor(
    readonly reason: StatusReason,
    message: string,
  ) {
    super(message);
    this.name = 'StreamError';
  }
}

/** The writing end: splits a source into chunks and sends them as credit allows. */
export class StreamWriter {
  #credit = STREAM_WINDOW_BYTES;
  #wake: (() => void) | undefined;
  readonly #abort = new AbortController();

  /** Aborts when the reader leaves or the link breaks. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Adds credit that the reader granted. */
  addCredit(bytes: number): void {
    this.#credit = Math.min(this.#credit + bytes, STREAM_WINDOW_BYTES);
    this.#wake?.();
  }

  /** Stops `pump`. No further chunk is sent. */
  close(): void {
    this.#abort.abort();
    this.#wake?.();
  }

  /**
   * Sends all of `source`. `send` resolves when the transport has accepted the chunk, so urgent messages can overtake
   * the stream. A piece of at most `STREAM_CHUNK_BYTES` is not split. Resolves at the end of the source or after
   * `close`. Rejects if the source fails.
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

  /** Waits for `size` bytes of credit and uses them. Resolves with false after `close`. */
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

/** The end of a stream: regular, or with an error. */
type Outcome = { error?: StreamError };

/** The reading end: yields chunks in order, then ends or throws a `StreamError`. For one consumer only. */
export class StreamReader implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  #outcome: Outcome | undefined;
  #outstanding = STREAM_WINDOW_BYTES;
  #consumed = 0;
  #wake: (() => void) | undefined;
  readonly #grant: (bytes: number) => void;
  readonly #left: () => void;

  /** `grant` sends credit to the writer. `left` is called when the consumer stops before the end. */
  constructor(grant: (bytes: number) => void, left: () => void) {
    this.#grant = grant;
    this.#left = left;
  }

  /** Adds a received chunk. Returns false and breaks the stream if the writer exceeded its credit. */
  push(chunk: Uint8Array): boolean {
    if (this.#outcome) return true;
    if (chunk.length > this.#outstanding) {
      this.end(new StreamError('InternalError', 'the writer exceeded its credit'));
      return false;
    }
    this.#outstanding -= chunk.length;
    this.#chunks.push(chunk);
    this.#wake?.();
    return true;
  }

  /** Ends the stream. Chunks received before are still delivered. Only the first call has an effect. */
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

  /** Grants credit in steps of half a window. A credit message for each chunk would double the number of frames. */
  #credit(bytes: number): void {
    this.#consumed += bytes;
    if (this.#consumed < STREAM_WINDOW_BYTES / 2 || this.#outcome) return;
    this.#outstanding += this.#consumed;
    this.#grant(this.#consumed);
    this.#consumed = 0;
  }
}
