/** What a client sends, for a reader that may be slower; and what it is sent, no faster than it reads. */

import { PassThrough } from 'node:stream';
import type { WebSocket } from 'ws';
import { untilWritable } from '../http/paced-writer.js';

const CLOSE_NORMAL = 1000;
/** Frames between the connection and their reader. */
const WAITING = 4;

/** Frames in order, until the client or the reader ends them. Made before the connection is there, so that nothing gets lost. */
export class FrameQueue {
  readonly #frames = new PassThrough({ objectMode: true, highWaterMark: WAITING });

  constructor() {
    this.#frames.on('error', () => undefined);
  }

  get frames(): AsyncIterable<Uint8Array> {
    return this.#frames as AsyncIterable<Uint8Array>;
  }

  /** Resolves when there is room for the next; a frame for nobody is dropped. */
  put(frame: Uint8Array): Promise<void> {
    const frames = this.#frames;
    if (!frames.writable || frames.write(frame)) return Promise.resolve();
    return untilWritable(frames);
  }

  /** From now on this socket's messages come in; it is not read while they wait. */
  read(socket: WebSocket): void {
    socket.on('message', (data) => {
      if (!Buffer.isBuffer(data)) return;
      socket.pause();
      void this.put(data).then(() => socket.resume());
    });
    socket.on('close', () => this.#frames.end());
    socket.on('error', () => socket.terminate());
  }

  /** Nobody reads any more. */
  close(): void {
    this.#frames.destroy();
  }
}

/** Resolves when the operating system took the message, or never will. */
export function sendMessage(socket: WebSocket, message: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => socket.send(message, () => resolve()));
}

/** Resolves when the connection has ended. */
export function closeSocket(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return Promise.resolve();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.close(CLOSE_NORMAL);
  return closed;
}
