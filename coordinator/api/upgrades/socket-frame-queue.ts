/** Flow control between a client's WebSocket and the link. */

import { PassThrough } from 'node:stream';
import type { WebSocket } from 'ws';
import { untilWritable } from '../http/paced-writer.js';

const CLOSE_NORMAL = 1000;
/** Number of buffered frames. */
const WAITING = 4;

/**
 * Frames in order, until the client or the reader ends them. Created before the connection is open, so that no frame is
 * lost.
 */
export class FrameQueue {
  readonly #frames = new PassThrough({ objectMode: true, highWaterMark: WAITING });

  constructor() {
    this.#frames.on('error', () => undefined);
  }

  get frames(): AsyncIterable<Uint8Array> {
    return this.#frames as AsyncIterable<Uint8Array>;
  }

  /** Resolves when there is capacity for the next frame. After `close` frames are dropped. */
  put(frame: Uint8Array): Promise<void> {
    const frames = this.#frames;
    if (!frames.writable || frames.write(frame)) return Promise.resolve();
    return untilWritable(frames);
  }

  /** Queues this socket's messages. The socket is paused while the queue is full. */
  read(socket: WebSocket): void {
    socket.on('message', (data) => {
      if (!Buffer.isBuffer(data)) return;
      socket.pause();
      void this.put(data).then(() => socket.resume());
    });
    socket.on('close', () => this.#frames.end());
    socket.on('error', () => socket.terminate());
  }

  /** Drops the queued frames and all later ones. */
  close(): void {
    this.#frames.destroy();
  }
}

/** Resolves when the message was passed to the operating system, or cannot be sent. */
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
