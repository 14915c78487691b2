/** A WebSocket's messages as bytes to read and to write, neither faster than the other side is. */
import { PassThrough } from 'node:stream';
import type { WebSocket } from 'ws';

const CLOSE_NORMAL = 1000;
/** Messages between the socket and their reader. */
const WAITING = 4;

/**
 * What the client sends, message by message; ends with the connection. The socket is not read while messages wait.
 * Made before the connection is there, so that nothing gets lost: see `read`.
 */
export class SocketFrames {
  readonly #messages = new PassThrough({ objectMode: true, highWaterMark: WAITING });

  get messages(): AsyncIterable<Uint8Array> {
    return this.#messages as AsyncIterable<Uint8Array>;
  }

  /** From now on the messages are this socket's. */
  read(socket: WebSocket): void {
    const messages = this.#messages;
    messages.on('error', () => undefined);
    messages.on('drain', () => socket.resume());
    socket.on('message', (data) => {
      if (messages.writable && Buffer.isBuffer(data) && !messages.write(data)) socket.pause();
    });
    // What follows is for nobody: let it come, so that the end can be seen.
    messages.on('close', () => socket.resume());
    socket.on('close', () => messages.end());
    socket.on('error', () => socket.terminate());
  }

  /** Nobody reads any more. */
  close(): void {
    this.#messages.destroy();
  }
}

/** Resolves when the operating system took the message, or never will. */
export function sendMessage(socket: WebSocket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => socket.send(bytes, () => resolve()));
}

/** Resolves when the connection has ended. */
export function closeSocket(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return Promise.resolve();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.close(CLOSE_NORMAL);
  return closed;
}
