/**
 * The server side of a SPDY/3.1 connection, over a socket or over a WebSocket tunnel. Every kubectl port-forward needs
 * it: since 1.31 in a WebSocket tunnel, before on the socket. SPDY on the socket is also used by client-go's
 * NewSPDYExecutor: kubectl up to 1.29, DevPod, Argo CD before 3.0, and all clients that fall back when a proxy blocks
 * WebSockets (k9s, Argo CD, CloudNativePG). The SPDY libraries on npm reject kubectl's streams, which have no method
 * and no path.
 */

import type { Duplex } from 'node:stream';
import { PassThrough } from 'node:stream';
import { untilWritable } from '../http/paced-writer.js';
import { controlFrame, dataFrame, FLAG_FIN, FRAME, type Frame, pairOf, readFrames } from './spdy-frames.js';
import { EmptyHeaderWriter, HeaderReader } from './spdy-headers.js';

const MAX_STREAMS = 256;
const NO_BYTES = new Uint8Array(0);
/** Buffer of a stream that is not read. When it is full, the whole connection waits, like in kubectl. */
const INPUT_BYTES = 256 * 1024;
/** A RST_STREAM status code. */
const REFUSED_STREAM = 3;

export class SpdyStream {
  /**
   * Data from the client. It ends when the client half-closes the stream, and is destroyed when the client resets it.
   */
  readonly input = new PassThrough({ highWaterMark: INPUT_BYTES });
  readonly #abandoned = new AbortController();
  #isEnded = false;

  constructor(
    readonly id: number,
    readonly headers: ReadonlyMap<string, string>,
    private readonly connection: SpdyConnection,
  ) {
    this.input.on('error', () => undefined);
  }

  /** Aborts when the client resets the stream or the connection is closed. */
  get signal(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** Resolves when the connection accepts more data, or at once after the end. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#isEnded) await this.connection.send(dataFrame(this.id, 0, bytes));
  }

  async end(): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.input.destroy();
    this.connection.removeStream(this.id);
    await this.connection.send(dataFrame(this.id, FLAG_FIN, NO_BYTES));
  }

  abort(): void {
    this.#isEnded = true;
    this.input.destroy();
    this.#abandoned.abort();
  }
}

export class SpdyConnection {
  readonly #socket: Duplex;
  readonly #onStream: (stream: SpdyStream) => void;
  readonly #reader = new HeaderReader();
  readonly #writer = new EmptyHeaderWriter();
  readonly #streams = new Map<number, SpdyStream>();

  /** `onStream` is called for each stream that the client opens. */
  constructor(socket: Duplex, onStream: (stream: SpdyStream) => void) {
    this.#socket = socket;
    this.#onStream = onStream;
  }

  /** Resolves when the connection has ended. */
  async serve(): Promise<void> {
    // The read loop below gets the error, too.
    this.#socket.on('error', () => undefined);
    try {
      for await (const frame of readFrames(this.#socket)) await this.#take(frame);
    } catch {
      // The connection was closed, or the client does not send SPDY. No response is possible.
    } finally {
      this.#socket.destroy();
      for (const stream of this.#streams.values()) stream.abort();
      this.#reader.close();
      this.#writer.close();
    }
  }

  /** Resolves when the connection accepts more data, or is closed. */
  async send(frame: Uint8Array): Promise<void> {
    const socket = this.#socket;
    if (socket.destroyed || socket.write(frame)) return;
    await untilWritable(socket);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Later frames of the stream are ignored. */
  removeStream(id: number): void {
    this.#streams.delete(id);
  }

  async #take(frame: Frame): Promise<void> {
    if (frame.kind === 'data') {
      await this.#takeData(frame);
      return;
    }
    switch (frame.type) {
      case FRAME.synStream:
        await this.#open(frame.payload, frame.flags);
        return;
      case FRAME.resetStream:
        this.#streams.get(frame.payload.readUInt32BE(0))?.abort();
        this.#streams.delete(frame.payload.readUInt32BE(0));
        return;
      case FRAME.ping:
        await this.send(controlFrame(FRAME.ping, 0, frame.payload));
        return;
    }
  }

  async #open(payload: Buffer, flags: number): Promise<void> {
    const id = payload.readUInt32BE(0);
    // Also blocks of rejected streams must be decoded, because all blocks are one zlib stream.
    const headers = await this.#reader.read(payload.subarray(10));
    if (this.#streams.size >= MAX_STREAMS) {
      await this.send(controlFrame(FRAME.resetStream, 0, pairOf(id, REFUSED_STREAM)));
      return;
    }
    const stream = new SpdyStream(id, headers, this);
    this.#streams.set(id, stream);
    const number = Buffer.alloc(4);
    number.writeUInt32BE(id);
    await this.send(controlFrame(FRAME.synReply, 0, Buffer.concat([number, await this.#writer.write()])));
    if (flags & FLAG_FIN) stream.input.end();
    this.#onStream(stream);
  }

  async #takeData({ stream: id, flags, payload }: Extract<Frame, { kind: 'data' }>): Promise<void> {
    const stream = this.#streams.get(id);
    if (!stream || stream.input.writableEnded || stream.input.destroyed) return;
    if (payload.length > 0) {
      if (!stream.input.write(payload)) await untilWritable(stream.input);
      await this.send(controlFrame(FRAME.windowUpdate, 0, pairOf(id, payload.length)));
    }
    if (flags & FLAG_FIN) stream.input.end();
  }
}
