/**
 * What a session needs of an agent's connection. The connection ends in this thread (a `WebSocket` of the library ws), or
 * in a link thread.
 */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** The part of a WebSocket that sessions use. */
export interface LinkSocket {
  readonly readyState: number;
  readonly OPEN: number;
  /** Bytes of sent frames that the operating system has not accepted yet. */
  readonly bufferedAmount: number;
  /** `sent` is called when the operating system has accepted the frame, or when the socket is closed. */
  send(frame: Uint8Array, sent?: () => void): void;
  ping(): void;
  /** A frame of this size was handled. Absent: the socket is read by the thread that handles its frames. */
  handled?(frameBytes: number): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
  on(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown;
  on(event: 'ping', listener: (payload: Buffer) => void): unknown;
  on(event: 'pong', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error & { code?: string }) => void): unknown;
  once(event: 'message', listener: (data: unknown) => void): unknown;
  once(event: 'pong', listener: () => void): unknown;
  once(event: 'close', listener: (code: number) => void): unknown;
  off(event: 'error' | 'close', listener: () => void): this;
}

/** The connection below the WebSocket. */
export interface LinkTransport {
  /** "" if unknown. */
  readonly remoteAddress: string;
  /** How the connection began; absent: a simulated connection. */
  readonly setUp?: LinkSetUp;
  /** Bytes received so far. */
  bytesRead(): number;
  /** Milliseconds since the last byte arrived. Absent: the session observes frames and `bytesRead`. */
  silentForMs?(): number;
}

/** `isResumed`: by a TLS session ticket. `up`, `down`: bytes of the HTTP upgrade. */
export interface LinkSetUp {
  readonly isResumed: boolean;
  readonly up: number;
  readonly down: number;
}

/** Returns the transport of a socket in this thread. */
export function transportOf(socket: Duplex): LinkTransport {
  if (!(socket instanceof Socket)) return { remoteAddress: '', bytesRead: () => 0 };
  return {
    remoteAddress: socket.remoteAddress ?? '',
    get setUp() {
      return setUpOf(socket);
    },
    bytesRead: () => socket.bytesRead,
  };
}

/** Call it when the upgrade is complete. */
export function setUpOf(socket: Socket): LinkSetUp {
  const isResumed = socket instanceof TLSSocket && socket.isSessionReused();
  return { isResumed, up: socket.bytesRead, down: socket.bytesWritten };
}
