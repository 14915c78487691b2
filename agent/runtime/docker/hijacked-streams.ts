/** Streams of a process over a connection that the engine upgraded for them. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { AttachedStreams, OutputChunk, TerminalSize } from '../runtime-driver.js';
import { demultiplex } from './docker-frames.js';

interface HijackedStreamsOptions {
  socket: Socket;
  /** Bytes that arrive on `socket`. */
  bytes: AsyncIterable<Uint8Array>;
  tty: boolean;
  /** If false, the process has no input: writes are dropped. */
  stdin: boolean;
  resize: (size: TerminalSize) => Promise<unknown>;
  /** Closes the streams. */
  signal: AbortSignal;
}

export class HijackedStreams implements AttachedStreams {
  readonly output: AsyncIterable<OutputChunk>;
  readonly #options: HijackedStreamsOptions;
  /** Aborts waits for the socket's buffer to drain when the connection closes. */
  readonly #gone = new AbortController();

  constructor(options: HijackedStreamsOptions) {
    this.#options = options;
    const { socket, bytes, tty, signal } = options;
    const close = () => this.close();
    signal.addEventListener('abort', close, { once: true });
    socket.on('close', () => {
      signal.removeEventListener('abort', close);
      this.#gone.abort();
    });
    // The reader of the output gets the error. A write after the end is not an error.
    socket.on('error', () => undefined);
    this.output = demultiplex(bytes, tty);
    if (signal.aborted) this.close();
  }

  async write(bytes: Uint8Array): Promise<void> {
    const { socket, stdin } = this.#options;
    if (!stdin || !socket.writable || socket.write(bytes)) return;
    await once(socket, 'drain', { signal: this.#gone.signal }).catch(() => undefined);
  }

  endInput(): void {
    if (this.#options.stdin) this.#options.socket.end();
  }

  async resize(size: TerminalSize): Promise<void> {
    if (this.#options.tty) await this.#options.resize(size);
  }

  close(): void {
    this.#options.socket.destroy();
  }
}
