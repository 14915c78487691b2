/**
 * Messages between the main thread and a link thread. All messages of one turn of the event loop are one transferred
 * buffer, because each `postMessage` costs as much as a read from a socket.
 */

import type { Clock } from '../../shared/process/time/clock.js';

/** From a link thread. The number is the type of a message. */
export const FROM_THREAD = {
  /** An upgrade waits for `admit` or `refuse`. Body: `UpgradeNotice` in JSON. */
  upgrade: 1,
  /** The upgrade is complete. Body: `LinkSetUp` in JSON. */
  opened: 2,
  frame: 3,
  /** A frame that is not binary. */
  text: 4,
  /** A heartbeat with its payload, at most `BEATS_MS` old. */
  beat: 5,
  pong: 6,
  /** The operating system has accepted an `acknowledgedFrame`. */
  sent: 7,
  /** Body: message and code in JSON. */
  error: 8,
  /** Body: the WebSocket close code, two bytes. The last message of a link. */
  closed: 9,
} as const;

/** To a link thread. */
export const TO_THREAD = {
  /** Body: the challenge for the agent; empty if it needs none. */
  admit: 1,
  /** Body: the HTTP response. */
  refuse: 2,
  frame: 3,
  /** The thread answers with `sent`. */
  acknowledgedFrame: 4,
  ping: 5,
  /** Body: close code, two bytes, and reason. */
  close: 6,
  terminate: 7,
  /** The main thread has processed `closed`, so the link's counters are free. */
  release: 8,
} as const;

/** WebSocket close code (RFC 6455, 7.4.1) of a connection that ended without a close frame. */
export const CLOSE_ABNORMAL = 1006;

/** `link`: number of the connection in its thread. */
export interface LinkMessage {
  readonly type: number;
  readonly link: number;
  readonly body: Buffer;
}

const LINK_OFFSET = 1;
const LENGTH_OFFSET = 5;
const HEAD_BYTES = 9;
const EMPTY = Buffer.alloc(0);

/** Collects messages, and passes them to `post` at the end of the turn. */
export class MessageBatch {
  readonly #clock: Pick<Clock, 'yieldToEventLoop'>;
  readonly #post: (batch: Buffer) => void;
  #waiting: { type: number; link: number; body: Uint8Array }[] = [];
  #bytes = 0;

  /** `post` may transfer the batch's memory. */
  constructor(clock: Pick<Clock, 'yieldToEventLoop'>, post: (batch: Buffer) => void) {
    this.#clock = clock;
    this.#post = post;
  }

  /** `body` must not change until the end of the turn. */
  add(type: number, link: number, body: Uint8Array = EMPTY): void {
    if (this.#waiting.length === 0) void this.#clock.yieldToEventLoop().then(() => this.#flush());
    this.#waiting.push({ type, link, body });
    this.#bytes += HEAD_BYTES + body.length;
  }

  #flush(): void {
    // Memory of its own: the buffers of the pool cannot be transferred.
    const batch = Buffer.allocUnsafeSlow(this.#bytes);
    let at = 0;
    for (const { type, link, body } of this.#waiting) {
      batch[at] = type;
      batch.writeUInt32LE(link, at + LINK_OFFSET);
      batch.writeUInt32LE(body.length, at + LENGTH_OFFSET);
      batch.set(body, at + HEAD_BYTES);
      at += HEAD_BYTES + body.length;
    }
    this.#waiting = [];
    this.#bytes = 0;
    this.#post(batch);
  }
}

/** Returns the messages of a batch. Their bodies share its memory: a body that is kept needs `ownBytes`. */
export function* messagesOf(bytes: Uint8Array): Iterable<LinkMessage> {
  const batch = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < batch.length; ) {
    const end = at + HEAD_BYTES + batch.readUInt32LE(at + LENGTH_OFFSET);
    const body = batch.subarray(at + HEAD_BYTES, end);
    yield { type: batch[at] ?? 0, link: batch.readUInt32LE(at + LINK_OFFSET), body };
    at = end;
  }
}

/**
 * Returns a copy of the bytes, unless they are at least half of the memory that they share. Otherwise a queued frame of
 * one slow agent would keep the frames of all other agents in memory.
 */
export function ownBytes(body: Buffer): Buffer {
  return 2 * body.length < body.buffer.byteLength ? Buffer.from(body) : body;
}
