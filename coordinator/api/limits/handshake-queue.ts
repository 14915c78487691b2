/**
 * Limits concurrent TLS handshakes. A thousand at once would block the event loop, and with it all other requests, for
 * about a second.
 */
import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import { siteOf } from '../../../shared/link/peer-network.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { FairQueue } from './fair-queue.js';
import { ForwardedPeers } from './forwarded-peers.js';
import { type Arrival, type ForwardingHeaders, PreHandshakeSockets } from './pre-handshake-sockets.js';

/** Large enough for hundreds of handshakes per second with clients at a round trip time of 500 ms. */
export const MAX_CONCURRENT_HANDSHAKES = 128;
/** A longer handshake frees its slot and continues, so that slow clients do not block the queue. */
export const HANDSHAKE_SLOT_MS = 1_000;
/**
 * A client that waited longer is rejected. It has probably timed out, and its handshake would be wasted work. An agent
 * has 15 s for its attempt. With a much lower limit, the last hosts of a returning fleet would be rejected, and would
 * wait as long again as the whole fleet.
 */
export const MAX_QUEUE_WAIT_MS = 10_000;
/** Limit of one site, so that it cannot fill the memory and the open files. Rejected hosts try again. */
export const MAX_QUEUED_PER_SITE = 4_096;

interface Waiting {
  socket: Socket;
  address: string;
  site: string;
  since: number;
}

/** A connection that was closed before its handshake. `code` is the equivalent HTTP status. */
interface HandshakeRefusal {
  remoteAddress: string;
  code: number;
  reason: string;
}

type OnRefused = (refusal: HandshakeRefusal) => void;

/**
 * The queue before a TLS server. Sites are served in turn, so a flood from one site delays only that site. A queued
 * connection costs a socket, but no cryptography.
 */
export class HandshakeQueue {
  readonly #clock: Clock;
  readonly #start: (socket: Socket) => void;
  readonly #slice: TimeSlice;
  readonly #onRefused: OnRefused;
  readonly #maxConcurrent: number;
  readonly #maxPerSite: number;
  readonly #queue = new FairQueue<Waiting>();
  /** Functions that free a slot, by peer. */
  readonly #slots = new Map<string, () => void>();
  #isRunning = false;

  /**
   * `start` starts a handshake. The caller must call `onHandshakeEnd` when it has succeeded or failed. `threads`: how many
   * threads share the limits.
   */
  constructor(
    clock: Clock,
    start: (socket: Socket) => void,
    onRefused: OnRefused = () => undefined,
    threads = 1,
  ) {
    this.#maxConcurrent = Math.ceil(MAX_CONCURRENT_HANDSHAKES / threads);
    this.#maxPerSite = Math.ceil(MAX_QUEUED_PER_SITE / threads);
    this.#clock = clock;
    this.#start = start;
    this.#onRefused = onRefused;
    this.#slice = new TimeSlice(clock);
  }

  /** Queues a connection, or rejects it if its site has too many. */
  add(socket: Socket): void {
    const { remoteAddress: address = '' } = socket;
    const waiting = { socket, address, site: siteOf(address), since: this.#clock.monotonic() };
    socket.on('error', ignore);
    if (this.#queue.sizeOf(waiting.site) >= this.#maxPerSite) {
      socket.destroy();
      const reason = 'too many connections of one site wait for a TLS handshake';
      this.#onRefused({ remoteAddress: address, code: 429, reason });
      return;
    }
    this.#queue.add(waiting.site, waiting);
    socket.once('close', () => {
      this.#queue.delete(waiting.site, waiting);
      this.onHandshakeEnd(socket);
    });
    void this.#run();
  }

  /** Frees the slot of this connection. */
  onHandshakeEnd(socket: Socket): void {
    this.#slots.get(peerOf(socket))?.();
  }

  /** Closes all queued connections. */
  close(): void {
    for (const { socket } of [...this.#queue]) socket.destroy();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#slots.size < this.#maxConcurrent) {
      const waiting = this.#queue.take();
      if (!waiting) break;
      this.#admit(waiting);
      await this.#slice.yieldIfUsedUp();
    }
    this.#isRunning = false;
  }

  #admit({ socket, address, since }: Waiting): void {
    if (socket.destroyed) return;
    if (this.#clock.monotonic() - since > MAX_QUEUE_WAIT_MS) {
      socket.destroy();
      this.#onRefused({
        remoteAddress: address,
        code: 503,
        reason: 'timed out in the queue for a TLS handshake',
      });
      return;
    }
    const peer = peerOf(socket);
    const timer = this.#clock.after(HANDSHAKE_SLOT_MS, () => this.onHandshakeEnd(socket));
    this.#slots.set(peer, () => {
      timer.cancel();
      this.#slots.delete(peer);
      void this.#run();
    });
    socket.off('error', ignore);
    this.#start(socket);
  }
}

interface QueueOptions {
  clock: Clock;
  onRefused: OnRefused;
  /** Absent: no other coordinator forwards connections. */
  forwarding?: ForwardingHeaders;
  /** Returns true if it has taken the connection over, whose first record has arrived. */
  divert?: (socket: Socket, arrival: Arrival) => boolean;
  /** How many threads share the limits. Absent: one. */
  threads?: number;
}

/**
 * Puts the queue before the server's own connection listener. `close` closes connections without a handshake: otherwise
 * the server would wait for them when it closes.
 */
export function queueHandshakes(server: Server, options: QueueOptions): { close: () => void } {
  const { clock, onRefused, threads } = options;
  const [listener] = server.listeners('connection');
  if (!listener) throw new Error('the server listens for no connections');
  server.removeAllListeners('connection');
  const start = (socket: Socket) => listener.call(server, socket);
  const handshakes = new HandshakeQueue(clock, start, onRefused, threads);
  const peers = new ForwardedPeers();
  const onFirstRecord = (socket: Socket, arrival: Arrival) => {
    if (options.divert?.(socket, arrival)) return;
    if (arrival.path === 'forwarded') peers.add(socket, arrival.address);
    handshakes.add(socket);
  };
  const sockets = new PreHandshakeSockets({ ...options, onFirstRecord });
  let isClosed = false;
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('secureConnection', (socket: TLSSocket) => {
    clearVerifyErrors(socket);
    peers.apply(socket);
    handshakes.onHandshakeEnd(socket);
    // The server closed its connections before this one was complete, and would wait for it.
    if (isClosed) socket.destroy();
  });
  server.on('tlsClientError', (_error, socket) => {
    peers.apply(socket);
    handshakes.onHandshakeEnd(socket);
  });
  return {
    close: () => {
      isClosed = true;
      sockets.close();
      handshakes.close();
    },
  };
}

/**
 * Clears OpenSSL's error queue. A client certificate with an invalid signature leaves an error there, and the
 * connection's next read fails with it, so the client would not get its 401. `checkIssued` empties the queue.
 */
function clearVerifyErrors(socket: TLSSocket): void {
  if (socket.authorized) return;
  const certificate = socket.getPeerX509Certificate();
  certificate?.checkIssued(certificate);
}

/** Returns a key that is equal for a connection and for the TLS socket on it. */
function peerOf({ remoteAddress, remotePort, remoteFamily }: Socket): string {
  return `${remoteFamily} ${remoteAddress} ${remotePort}`;
}

function ignore(): void {
  // The `close` event follows.
}
