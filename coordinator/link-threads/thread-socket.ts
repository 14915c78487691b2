/** The main thread's end of a WebSocket that a link thread terminates. */
import { EventEmitter } from 'node:events';
import type { LinkSetUp, LinkSocket, LinkTransport } from '../hub/sessions/link-socket.js';
import type { LinkCounters } from './link-counters.js';
import { FROM_THREAD, type LinkMessage, type MessageBatch, TO_THREAD } from './message-batch.js';

const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;
/** WebSocket close code (RFC 6455, 7.4.1). */
const CLOSE_NORMAL = 1000;

interface ThreadSocketDeps {
  /** Number of the connection in its thread. */
  readonly link: number;
  readonly slot: number;
  readonly remoteAddress: string;
  readonly setUp: LinkSetUp;
  readonly counters: LinkCounters;
  readonly outbox: MessageBatch;
}

export class ThreadSocket extends EventEmitter implements LinkSocket, LinkTransport {
  readonly OPEN = OPEN;
  readyState = OPEN;
  readonly #deps: ThreadSocketDeps;
  #sentBytes = 0;
  /** Callbacks of frames that the operating system has not accepted yet, in order. */
  readonly #unsent: (() => void)[] = [];

  constructor(deps: ThreadSocketDeps) {
    super();
    this.#deps = deps;
  }

  get remoteAddress(): string {
    return this.#deps.remoteAddress;
  }

  get setUp(): LinkSetUp {
    return this.#deps.setUp;
  }

  /** The counters show activity. */
  bytesRead(): number {
    return 0;
  }

  silentForMs(): number {
    return this.#deps.counters.silentForMs(this.#deps.slot);
  }

  get bufferedAmount(): number {
    if (this.readyState === CLOSED) return 0;
    return this.#sentBytes - this.#deps.counters.accepted(this.#deps.slot);
  }

  send(frame: Uint8Array, sent?: () => void): void {
    if (this.readyState !== OPEN) {
      if (sent) process.nextTick(sent);
      return;
    }
    this.#sentBytes += frame.length;
    if (sent) this.#unsent.push(sent);
    this.#post(sent ? TO_THREAD.acknowledgedFrame : TO_THREAD.frame, frame);
  }

  ping(): void {
    this.#post(TO_THREAD.ping);
  }

  handled(frameBytes: number): void {
    if (this.readyState !== CLOSED) this.#deps.counters.addHandled(this.#deps.slot, frameBytes);
  }

  close(code = CLOSE_NORMAL, reason = ''): void {
    if (this.readyState !== OPEN) return;
    this.readyState = CLOSING;
    const body = Buffer.alloc(2 + Buffer.byteLength(reason));
    body.writeUInt16BE(code);
    body.write(reason, 2);
    this.#post(TO_THREAD.close, body);
  }

  terminate(): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSING;
    this.#post(TO_THREAD.terminate);
  }

  /** Emits the event that a message of the thread reports. */
  received({ type, body }: LinkMessage): void {
    switch (type) {
      case FROM_THREAD.frame:
      case FROM_THREAD.text:
        this.emit('message', body, type === FROM_THREAD.frame);
        return;
      case FROM_THREAD.beat:
        this.emit('ping', body);
        return;
      case FROM_THREAD.pong:
        this.emit('pong');
        return;
      case FROM_THREAD.sent:
        this.#unsent.shift()?.();
        return;
      case FROM_THREAD.error: {
        const { message, code } = JSON.parse(body.toString()) as { message: string; code?: string };
        this.emit('error', Object.assign(new Error(message), { code }));
        return;
      }
      case FROM_THREAD.closed:
        this.closed(body.readUInt16BE());
        return;
    }
  }

  /** The connection has ended. */
  closed(code: number): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    for (const sent of this.#unsent.splice(0)) sent();
    this.emit('close', code);
  }

  #post(type: number, body?: Uint8Array): void {
    if (this.readyState !== CLOSED) this.#deps.outbox.add(type, this.#deps.link, body);
  }
}
