/** The streams of a process over a connection that the engine has given up for them. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { AttachedStreams, OutputChunk, TerminalSize } from '../runtime-driver.js';
import { demultiplex } from './docker-frames.js';

interface HijackedStreamsOptions {
  socket: Socket;
  /** What comes on `socket`. */
  bytes: AsyncIterable<Uint8Array>;
  tty: boolean;
  /** Whether the process reads what is written. */
  stdin: boolean;
  resize: (size: TerminalSize) => Promise<unknown>;
  /** Closes the streams. */
  signal: AbortSignal;
}

export class HijackedStreams implements AttachedStreams {
  readonly output: AsyncIterable<OutputChunk>;
  readonly #options: HijackedStreamsOptions;
  /** Ends a wait for room when the connection goes. */
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
    // Whoever reads the output is told; a write after the end is no error.
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
