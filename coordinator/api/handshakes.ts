/** Lets connections begin TLS in turn: a thousand handshakes at once are a second in which nobody else is answered. */
import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';
import type { Clock } from '../../shared/process/clock.js';
import { Slice } from '../../shared/process/slice.js';

/** Under way at once. Enough that those far away (half a second there and back) still come in by hundreds a second. */
export const MAX_HANDSHAKES = 128;
/** One that takes longer gives up its place, but goes on: whoever is slow on purpose keeps nobody out. */
export const PLACE_MS = 1_000;
/** Who has waited so long is sent away while it still listens: a handshake with one that has given up is lost work. */
export const MAX_WAIT_MS = 5_000;

interface Waiting {
  socket: Socket;
  since: number;
}

/** The line before a TLS server. Waiting costs a socket; the cryptography comes with the turn. */
export class Handshakes {
  readonly #clock: Clock;
  readonly #begin: (socket: Socket) => void;
  readonly #slice: Slice;
  readonly #line = new Set<Waiting>();
  /** What gives a place back, by peer. */
  readonly #underWay = new Map<string, () => void>();
  #isRunning = false;

  /** `begin` starts a handshake; when it is over, however it ended, `ended` is to be called. */
  constructor(clock: Clock, begin: (socket: Socket) => void) {
    this.#clock = clock;
    this.#begin = begin;
    this.#slice = new Slice(clock);
  }

  /** A connection has come. */
  add(socket: Socket): void {
    const waiting = { socket, since: this.#clock.monotonic() };
    this.#line.add(waiting);
    socket.on('error', ignore);
    socket.once('close', () => {
      this.#line.delete(waiting);
      this.ended(socket);
    });
    void this.#run();
  }

  /** The handshake of this connection is over. */
  ended(socket: Socket): void {
    this.#underWay.get(peerOf(socket))?.();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (const waiting of this.#line) {
      if (this.#underWay.size >= MAX_HANDSHAKES) break;
      this.#line.delete(waiting);
      this.#admit(waiting);
      await this.#slice.pause();
    }
    this.#isRunning = false;
  }

  #admit({ socket, since }: Waiting): void {
    if (socket.destroyed) return;
    if (this.#clock.monotonic() - since > MAX_WAIT_MS) {
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    const timer = this.#clock.after(PLACE_MS, () => this.ended(socket));
    this.#underWay.set(peer, () => {
      timer.cancel();
      this.#underWay.delete(peer);
      void this.#run();
    });
    socket.off('error', ignore);
    this.#begin(socket);
  }
}

/** Puts the line before the server's own listener. */
export function paceHandshakes(server: Server, clock: Clock): void {
  const [listener] = server.listeners('connection');
  if (!listener) throw new Error('the server listens for no connections');
  server.removeAllListeners('connection');
  const handshakes = new Handshakes(clock, (socket) => listener.call(server, socket));
  server.on('connection', (socket: Socket) => handshakes.add(socket));
  server.on('secureConnection', (socket: TLSSocket) => handshakes.ended(socket));
  server.on('tlsClientError', (_error, socket) => handshakes.ended(socket));
}

/** The same for a connection and for the TLS over it. */
function peerOf({ remoteAddress, remotePort, remoteFamily }: Socket): string {
  return `${remoteFamily} ${remoteAddress} ${remotePort}`;
}

function ignore(): void {
  // Its close says the same.
}
