/**
 * The server's end of a SPDY/3.1 connection, over a socket or a tunnel. The known libraries refuse kubectl's streams,
 * which carry no method and no path.
 */

import type { Duplex } from 'node:stream';
import { PassThrough } from 'node:stream';
import { untilWritable } from '../http/paced-writer.js';
import { controlFrame, dataFrame, FLAG_FIN, FRAME, type Frame, pairOf, readFrames } from './spdy-frames.js';
import { EmptyHeaderWriter, HeaderReader } from './spdy-headers.js';

const MAX_STREAMS = 256;
const NO_BYTES = new Uint8Array(0);
/** Of a stream that nobody reads: the connection waits then, as kubectl's own does. */
const INPUT_BYTES = 256 * 1024;
/** RST_STREAM status codes. */
const REFUSED_STREAM = 3;

/** One stream that the client opened. */
export class SpdyStream {
  /** What the client sends; ends when it half-closes, breaks when it gives the stream up. */
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

  /** Aborts when the client gives the stream up, or the connection is gone. */
  get signal(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** Resolves when the connection has room for more; at once after the end. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#isEnded) await this.connection.send(dataFrame(this.id, 0, bytes));
  }

  /** Nothing more is written, and nothing more is read. */
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

  /** Serves until the connection ends, whoever ends it. */
  async serve(): Promise<void> {
    // Reading tells of an error as well.
    this.#socket.on('error', () => undefined);
    try {
      for await (const frame of readFrames(this.#socket)) await this.#take(frame);
    } catch {
      // Cut, or no SPDY: there is nobody to tell.
    } finally {
      this.#socket.destroy();
      for (const stream of this.#streams.values()) stream.abort();
      this.#reader.close();
      this.#writer.close();
    }
  }

  /** Resolves when there is room for more, or never will be. */
  async send(frame: Uint8Array): Promise<void> {
    const socket = this.#socket;
    if (socket.destroyed || socket.write(frame)) return;
    await untilWritable(socket);
  }

  /** Ends the connection at once. */
  close(): void {
    this.#socket.destroy();
  }

  /** The stream has ended: what still comes for it goes nowhere. */
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
    // Every block is read, also a refused stream's: they are one zlib stream.
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
