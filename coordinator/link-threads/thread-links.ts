/** The links that end in this thread: passes their frames and events on to the main thread, which decides. */
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';
import { ApiError } from '../../shared/kube/objects/api-status.js';
import { CERTIFICATE_HEADER } from '../../shared/link/key-proof.js';
import { JOIN_MAC_HEADER } from '../../shared/link/messages/link-messages.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { LinkRefusal } from '../api/ports.js';
import { setUpOf } from '../hub/sessions/link-socket.js';
import { refusalResponse } from '../hub/sessions/link-upgrade.js';
import { LinkWebSockets, type Upgrade } from '../hub/sessions/link-websockets.js';
import { peerCertificateOf } from '../pki/peer-certificate.js';
import type { LinkCounters } from './link-counters.js';
import {
  CLOSE_ABNORMAL,
  FROM_THREAD,
  type LinkMessage,
  type MessageBatch,
  ownBytes,
  TO_THREAD,
} from './message-batch.js';
import type { UpgradeNotice } from './thread-protocol.js';

/**
 * Heartbeats are passed on together, the last one of each agent. The main thread reads from the counters when an agent
 * last sent something.
 */
const BEATS_MS = 1_000;
/**
 * Bytes of one agent's frames that may wait for the main thread. Above it the connection is not read, so an agent that
 * floods the coordinator fills its own connection and not the coordinator's memory.
 */
const MAX_WAITING_BYTES = 2 ** 20;
const RESUME_MS = 10;
const HEADERS = ['sec-websocket-protocol', CERTIFICATE_HEADER, JOIN_MAC_HEADER] as const;

type TlsUpgrade = Upgrade & { readonly socket: TLSSocket };

type ThreadLink = { readonly slot: number } & (
  | { readonly phase: 'upgrading'; readonly upgrade: TlsUpgrade; readonly destroy: () => void }
  | { readonly phase: 'open'; readonly webSocket: WebSocket; passedBytes: number }
  /** The main thread may still read the counters of the link. */
  | { readonly phase: 'ended' }
);

export class ThreadLinks {
  readonly #clock: Clock;
  readonly #counters: LinkCounters;
  readonly #outbox: MessageBatch;
  readonly #onRefused: (refusal: LinkRefusal) => void;
  readonly #webSockets = new LinkWebSockets();
  readonly #links = new Map<number, ThreadLink>();
  readonly #freeSlots: number[] = [];
  #lastLink = 0;
  #usedSlots = 0;
  /** Payload of the last heartbeat, by link. An agent that floods pings must not fill the memory. */
  #beats = new Map<number, Buffer>();

  constructor(
    clock: Clock,
    counters: LinkCounters,
    outbox: MessageBatch,
    onRefused: (refusal: LinkRefusal) => void,
  ) {
    this.#onRefused = onRefused;
    this.#clock = clock;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  /** Asks the main thread about an upgrade. */
  upgrade(request: IncomingMessage, socket: TLSSocket, head: Buffer): void {
    const slot = this.#freeSlots.pop() ?? this.#usedSlots++;
    const destroy = () => socket.destroy();
    socket.on('error', destroy);
    if (slot >= this.#counters.capacity) {
      this.#usedSlots -= 1;
      const error = new ApiError('ServiceUnavailable', 'too many links in one thread of the coordinator');
      this.#onRefused({ remoteAddress: socket.remoteAddress ?? '', code: error.code, reason: error.message });
      socket.end(refusalResponse(error), destroy);
      return;
    }
    this.#lastLink += 1;
    const link = this.#lastLink;
    this.#counters.begin(slot);
    this.#links.set(link, { phase: 'upgrading', slot, upgrade: { request, socket, head }, destroy });
    socket.once('close', () => this.#connectionClosed(link));
    const notice: UpgradeNotice = {
      headers: Object.fromEntries(HEADERS.map((name) => [name, request.headers[name]])),
      peer: peerCertificateOf(socket, this.#clock.now()),
      remoteAddress: socket.remoteAddress ?? '',
      slot,
    };
    this.#outbox.add(FROM_THREAD.upgrade, link, json(notice));
  }

  /** Carries out an order of the main thread. The link may have ended meanwhile. */
  received({ type, link, body }: LinkMessage): void {
    const found = this.#links.get(link);
    if (type === TO_THREAD.release) this.#release(link);
    if (found?.phase === 'open') this.#carryOut(type, link, found, body);
    if (found?.phase !== 'upgrading') return;
    if (type === TO_THREAD.admit) {
      this.#open(link, found, body.toString() || undefined);
      return;
    }
    const { socket } = found.upgrade;
    socket.end(body, () => socket.destroy());
  }

  #carryOut(
    type: number,
    link: number,
    { webSocket, slot }: ThreadLink & { phase: 'open' },
    body: Buffer,
  ): void {
    switch (type) {
      case TO_THREAD.frame:
      case TO_THREAD.acknowledgedFrame: {
        const frame = ownBytes(body);
        webSocket.send(frame, () => {
          this.#counters.addAccepted(slot, frame.length);
          if (type === TO_THREAD.acknowledgedFrame) this.#outbox.add(FROM_THREAD.sent, link);
        });
        return;
      }
      case TO_THREAD.ping:
        webSocket.ping();
        return;
      case TO_THREAD.close:
        webSocket.close(body.readUInt16BE(), body.subarray(2));
        return;
      case TO_THREAD.terminate:
        webSocket.terminate();
        return;
    }
  }

  #open(link: number, { slot, upgrade, destroy }: ThreadLink & { phase: 'upgrading' }, nonce?: string): void {
    const { socket } = upgrade;
    socket.off('error', destroy);
    this.#webSockets.open(upgrade, nonce, (webSocket) => {
      const open = { phase: 'open' as const, slot, webSocket, passedBytes: 0 };
      this.#links.set(link, open);
      this.#outbox.add(FROM_THREAD.opened, link, json(setUpOf(socket)));
      socket.on('data', () => this.#counters.recordActivity(slot));
      this.#listen(link, open);
    });
  }

  #listen(link: number, open: ThreadLink & { phase: 'open' }): void {
    const outbox = this.#outbox;
    const { webSocket } = open;
    webSocket.on('message', (data, isBinary) => {
      // Other forms of `data` need another `binaryType`.
      if (!Buffer.isBuffer(data)) return;
      outbox.add(isBinary ? FROM_THREAD.frame : FROM_THREAD.text, link, data);
      open.passedBytes += data.length;
      if (!webSocket.isPaused && this.#isBehind(open)) this.#pause(open);
    });
    webSocket.on('ping', (payload) => this.#addBeat(link, payload));
    webSocket.on('pong', () => outbox.add(FROM_THREAD.pong, link));
    webSocket.on('error', ({ message, code }: NodeJS.ErrnoException) =>
      outbox.add(FROM_THREAD.error, link, json({ message, code })),
    );
    webSocket.once('close', (code) => this.#end(link, code));
  }

  #isBehind({ passedBytes, slot }: ThreadLink & { phase: 'open' }): boolean {
    return passedBytes - this.#counters.handled(slot) > MAX_WAITING_BYTES;
  }

  /** Reads no more from the connection until the main thread has handled its frames. */
  #pause(open: ThreadLink & { phase: 'open' }): void {
    const { webSocket } = open;
    webSocket.pause();
    const resume = () => {
      const isOpen = webSocket.readyState !== webSocket.CLOSED;
      if (!isOpen || !this.#isBehind(open)) {
        webSocket.resume();
        return;
      }
      // A connection that is not read is not silent: the main thread would close the link.
      this.#counters.recordActivity(open.slot);
      this.#clock.after(RESUME_MS, resume);
    };
    this.#clock.after(RESUME_MS, resume);
  }

  #addBeat(link: number, payload: Buffer): void {
    if (this.#beats.size === 0) this.#clock.after(BEATS_MS, () => this.#passBeats());
    this.#beats.set(link, ownBytes(payload));
  }

  #passBeats(): void {
    const beats = this.#beats;
    this.#beats = new Map();
    for (const [link, payload] of beats)
      if (this.#links.get(link)?.phase === 'open') this.#outbox.add(FROM_THREAD.beat, link, payload);
  }

  /** A WebSocket reports its end itself. */
  #connectionClosed(link: number): void {
    if (this.#links.get(link)?.phase === 'upgrading') this.#end(link, CLOSE_ABNORMAL);
  }

  /** Reports the end of a link as its last message. */
  #end(link: number, code: number): void {
    const body = Buffer.alloc(2);
    body.writeUInt16BE(code);
    this.#outbox.add(FROM_THREAD.closed, link, body);
    const slot = this.#links.get(link)?.slot;
    if (slot !== undefined) this.#links.set(link, { phase: 'ended', slot });
  }

  #release(link: number): void {
    const ended = this.#links.get(link);
    if (!ended) return;
    this.#links.delete(link);
    this.#freeSlots.push(ended.slot);
  }
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
