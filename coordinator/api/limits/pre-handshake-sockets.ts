/**
 * Connections before their TLS handshake. A connection enters the handshake queue only when its first record (the
 * ClientHello) is complete. Until then it costs a socket, so their number is limited in total and per network, and they
 * have a timeout.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { networkOf } from './peer-network.js';

/** Total limit. Above it the oldest connections are closed, because real clients send their first record at once. */
export const MAX_PRE_HANDSHAKE = 4_096;
/**
 * Limit per IPv4 address or IPv6 /64. High enough for a thousand hosts behind one router that connect at the same time.
 */
export const MAX_PRE_HANDSHAKE_PER_NETWORK = 1_024;
/** Timeout from the connection to the end of its first record. */
export const FIRST_RECORD_TIMEOUT_MS = 10_000;

/** Record header (RFC 8446, 5.1): type (22 = handshake), version, length. */
const HEADER_BYTES = 5;
const HANDSHAKE_TYPE = 22;
const LENGTH_OFFSET = 3;
/** TLSPlaintext of 2^14 bytes plus the maximum expansion by encryption. */
const MAX_RECORD_BYTES = 2 ** 14 + 256;

/** A closed connection, with the equivalent HTTP status. */
interface SilentRefusal {
  remoteAddress: string;
  code: 408 | 429;
  reason: string;
}

interface SilentSocketsOptions {
  clock: Clock;
  /** The first record is complete. The socket returns it again when it is read. */
  onFirstRecord: (socket: Socket) => void;
  onRefused: (refusal: SilentRefusal) => void;
}

interface Silent {
  socket: Socket;
  address: string;
  network: string;
  since: number;
  heard: Buffer[];
  bytes: number;
  /** Number of bytes needed before the next check. */
  wanted: number;
  hear: () => void;
  forget: () => void;
}

/** Returns the oldest connection. A Set keeps the order of insertion. */
const oldestOf = (sockets: ReadonlySet<Silent>): Silent | undefined => sockets.values().next().value;

export class PreHandshakeSockets {
  readonly #options: SilentSocketsOptions;
  readonly #all = new Set<Silent>();
  readonly #byNetwork = new Map<string, Set<Silent>>();
  #timer: Timer | undefined;
  #isThinning = false;
  #isClosed = false;

  constructor(options: SilentSocketsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#all.size;
  }

  add(socket: Socket): void {
    if (this.#isClosed) {
      socket.destroy();
      return;
    }
    const address = socket.remoteAddress ?? '';
    const silent: Silent = {
      ...{ socket, address, network: networkOf(address), since: this.#options.clock.monotonic() },
      ...{ heard: [], bytes: 0, wanted: HEADER_BYTES },
      hear: () => this.#hear(silent),
      forget: () => this.#forget(silent),
    };
    this.#all.add(silent);
    const ofNetwork = this.#byNetwork.get(silent.network) ?? new Set();
    this.#byNetwork.set(silent.network, ofNetwork.add(silent));
    socket.on('error', ignore);
    socket.once('close', silent.forget);
    socket.on('readable', silent.hear);
    if (this.#isTooMany(ofNetwork)) void this.#thin();
    this.#timer ??= this.#options.clock.after(FIRST_RECORD_TIMEOUT_MS, () => this.#closeOverdue());
  }

  /** Closes all connections, also those that are added later. Reports none of them. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const { socket } of this.#all) socket.destroy();
  }

  #hear(silent: Silent): void {
    const { socket } = silent;
    for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
      silent.heard.push(chunk);
      silent.bytes += chunk.length;
    }
    if (silent.bytes < silent.wanted) return;
    const { heard } = silent;
    const said = heard.length === 1 && heard[0] ? heard[0] : Buffer.concat(heard);
    silent.heard = [said];
    silent.wanted = firstRecordBytes(said);
    if (said.length < silent.wanted) return;
    this.#forget(silent);
    socket.unshift(said);
    this.#options.onFirstRecord(socket);
  }

  #forget(silent: Silent): void {
    const { socket, network, hear, forget } = silent;
    this.#all.delete(silent);
    const ofNetwork = this.#byNetwork.get(network);
    ofNetwork?.delete(silent);
    if (ofNetwork?.size === 0) this.#byNetwork.delete(network);
    socket.off('readable', hear);
    socket.off('close', forget);
    if (!socket.destroyed) socket.off('error', ignore);
  }

  #isTooMany(ofNetwork: ReadonlySet<Silent>): boolean {
    return this.#all.size > MAX_PRE_HANDSHAKE || ofNetwork.size > MAX_PRE_HANDSHAKE_PER_NETWORK;
  }

  /**
   * Waits two turns of the event loop before closing the oldest: data of connections accepted in this turn is read in
   * the next one.
   */
  async #thin(): Promise<void> {
    if (this.#isThinning) return;
    this.#isThinning = true;
    const { clock } = this.#options;
    await clock.yieldToEventLoop();
    await clock.yieldToEventLoop();
    this.#isThinning = false;
    for (const ofNetwork of this.#byNetwork.values()) {
      while (ofNetwork.size > MAX_PRE_HANDSHAKE_PER_NETWORK)
        this.#refuse(oldestOf(ofNetwork), 429, 'too many connections of this network do not begin TLS');
    }
    while (this.#all.size > MAX_PRE_HANDSHAKE)
      this.#refuse(oldestOf(this.#all), 429, 'too many connections do not begin TLS');
  }

  #closeOverdue(): void {
    const { clock } = this.#options;
    const overdue = clock.monotonic() - FIRST_RECORD_TIMEOUT_MS;
    for (const silent of this.#all) {
      if (silent.since > overdue) break;
      this.#refuse(silent, 408, 'the connection did not begin TLS');
    }
    const oldest = oldestOf(this.#all);
    this.#timer = oldest && clock.after(oldest.since - overdue, () => this.#closeOverdue());
  }

  #refuse(silent: Silent | undefined, code: SilentRefusal['code'], reason: string): void {
    if (!silent) return;
    const { socket, address } = silent;
    socket.destroy();
    this.#forget(silent);
    this.#options.onRefused({ remoteAddress: address, code, reason });
  }
}

/**
 * Returns the total length of the first record. If it is not TLS, returns the number of received bytes, and TLS rejects
 * it later.
 */
export function firstRecordBytes(said: Buffer): number {
  const length = said.readUInt16BE(LENGTH_OFFSET);
  const isTls = said[0] === HANDSHAKE_TYPE && length <= MAX_RECORD_BYTES;
  return isTls ? HEADER_BYTES + length : said.length;
}

function ignore(): void {
  // The `close` event follows.
}
