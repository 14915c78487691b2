/** Lets connections begin TLS in turn: a thousand handshakes at once are a second in which nobody else is answered. */
import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { FairQueue } from './fair-queue.js';
import { siteOf } from './peer-network.js';
import { PreHandshakeSockets } from './pre-handshake-sockets.js';

/** Under way at once. Enough that those far away (half a second there and back) still come in by hundreds a second. */
export const MAX_CONCURRENT_HANDSHAKES = 128;
/** One that takes longer gives up its place, but goes on: whoever is slow on purpose keeps nobody out. */
export const HANDSHAKE_SLOT_MS = 1_000;
/** Who has waited so long is sent away while it still listens: a handshake with one that has given up is lost work. */
export const MAX_QUEUE_WAIT_MS = 5_000;

interface Waiting {
  socket: Socket;
  address: string;
  site: string;
  since: number;
}

/** Somebody who was sent away before TLS startedAt, and why; `code` is the HTTP status that says the same. */
interface HandshakeRefusal {
  remoteAddress: string;
  code: number;
  reason: string;
}

type OnRefused = (refusal: HandshakeRefusal) => void;

/**
 * The line before a TLS server, with turns by where peers come from: whoever comes a thousand times from one place waits for
 * itself. Waiting costs a socket; the cryptography comes with the turn.
 */
export class HandshakeQueue {
  readonly #clock: Clock;
  readonly #start: (socket: Socket) => void;
  readonly #slice: TimeSlice;
  readonly #onRefused: OnRefused;
  readonly #queue = new FairQueue<Waiting>();
  /** What gives a place back, by peer. */
  readonly #slots = new Map<string, () => void>();
  #isRunning = false;

  /** `begin` starts a handshake; when it is over, however it ended, `ended` is to be called. */
  constructor(clock: Clock, start: (socket: Socket) => void, onRefused: OnRefused = () => undefined) {
    this.#clock = clock;
    this.#start = start;
    this.#onRefused = onRefused;
    this.#slice = new TimeSlice(clock);
  }

  /** A connection wants its turn. */
  add(socket: Socket): void {
    const { remoteAddress: address = '' } = socket;
    const waiting = { socket, address, site: siteOf(address), since: this.#clock.monotonic() };
    this.#queue.add(waiting.site, waiting);
    socket.on('error', ignore);
    socket.once('close', () => {
      this.#queue.delete(waiting.site, waiting);
      this.onHandshakeEnd(socket);
    });
    void this.#run();
  }

  /** The handshake of this connection is over. */
  onHandshakeEnd(socket: Socket): void {
    this.#slots.get(peerOf(socket))?.();
  }

  /** Sends all away who wait. */
  close(): void {
    for (const { socket } of [...this.#queue]) socket.destroy();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#slots.size < MAX_CONCURRENT_HANDSHAKES) {
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
      this.#onRefused({ remoteAddress: address, code: 503, reason: 'its turn to begin TLS came too late' });
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

/** Puts the line before the server's own listener. `close` ends what has not startedAt TLS: a server closes behind the last socket. */
export function queueHandshakes(server: Server, clock: Clock, onRefused: OnRefused): { close: () => void } {
  const [listener] = server.listeners('connection');
  if (!listener) throw new Error('the server listens for no connections');
  server.removeAllListeners('connection');
  const handshakes = new HandshakeQueue(clock, (socket) => listener.call(server, socket), onRefused);
  const onFirstRecord = (socket: Socket) => handshakes.add(socket);
  const sockets = new PreHandshakeSockets({ clock, onFirstRecord, onRefused });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('secureConnection', (socket: TLSSocket) => {
    clearVerifyErrors(socket);
    handshakes.onHandshakeEnd(socket);
  });
  server.on('tlsClientError', (_error, socket) => handshakes.onHandshakeEnd(socket));
  return {
    close: () => {
      sockets.close();
      handshakes.close();
    },
  };
}

/**
 * What OpenSSL queued of a signature that was wrong is taken for an error of the connection's next read, if the request comes in
 * a packet of its own: it would end without the 401 that says why. Asking who issued a certificate empties the queue.
 */
function clearVerifyErrors(socket: TLSSocket): void {
  if (socket.authorized) return;
  const certificate = socket.getPeerX509Certificate();
  certificate?.checkIssued(certificate);
}

/** The same for a connection and for the TLS over it. */
function peerOf({ remoteAddress, remotePort, remoteFamily }: Socket): string {
  return `${remoteFamily} ${remoteAddress} ${remotePort}`;
}

function ignore(): void {
  // Its close says the same.
}
