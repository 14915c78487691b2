/**
 * Connections that have yet to begin TLS. One takes a turn in the line of handshakes only with its first record whole
 * (the ClientHello): until then it costs a socket, there are only so many, of one network too, and they are closed in time.
 */
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { networkOf } from './peer-network.js';

/** Of all together. Above this the oldest are closed: who means to speak does so at once. */
export const MAX_PRE_HANDSHAKE = 4_096;
/** Of one address of IPv4, or one /64 of IPv6: as many hosts behind one router may come at the same moment. */
export const MAX_PRE_HANDSHAKE_PER_NETWORK = 1_024;
/** From the connection to the end of its first record. */
export const FIRST_RECORD_TIMEOUT_MS = 10_000;

/** RFC 8446, 5.1: type (22 = handshake), version, length. */
const HEADER_BYTES = 5;
const HANDSHAKE_TYPE = 22;
const LENGTH_OFFSET = 3;
/** TLSPlaintext of 2^14 bytes, and what encryption may add. */
const MAX_RECORD_BYTES = 2 ** 14 + 256;

/** Why one was closed, as HTTP would say it. */
interface SilentRefusal {
  remoteAddress: string;
  code: 408 | 429;
  reason: string;
}

interface SilentSocketsOptions {
  clock: Clock;
  /** It has spoken: what it said is there to be read again. */
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
  /** Below so many there is nothing to decide. */
  wanted: number;
  hear: () => void;
  forget: () => void;
}

/** The oldest of a set, which keeps the order in which they came. */
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

  /** A connection has come. */
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

  /** Closes all, those that are yet to come as well, and tells nobody. */
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

  /** What has arrived from those that were let in this turn is read in the next: only then is it known who is silent. */
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

/** How many bytes the first record has in all; for what is no TLS as many as are there: TLS itself refuses it. */
export function firstRecordBytes(said: Buffer): number {
  const length = said.readUInt16BE(LENGTH_OFFSET);
  const isTls = said[0] === HANDSHAKE_TYPE && length <= MAX_RECORD_BYTES;
  return isTls ? HEADER_BYTES + length : said.length;
}

function ignore(): void {
  // Its close says the same.
}
