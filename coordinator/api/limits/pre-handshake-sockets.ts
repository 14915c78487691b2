/**
 * Connections before their TLS handshake. A connection enters the handshake queue only when its first record (the
 * ClientHello) is complete. Until then it costs a socket, so their number is limited in total and per network, and they
 * have a timeout.
 */
import type { Socket } from 'node:net';
import { networkOf } from '../../../shared/link/peer-network.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';

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
interface PreHandshakeRefusal {
  remoteAddress: string;
  code: 401 | 408 | 429;
  reason: string;
}

/** Reads the header that another coordinator sends before the bytes of a client whose connection it forwards. */
export interface ForwardingHeaders {
  /** Returns the length of the header, or undefined if the bytes begin with none. Grows with `bytes` until it is known. */
  lengthIn(bytes: Buffer): number | undefined;
  /** Returns the client's address, or why the connection is refused. */
  read(header: Buffer): { readonly client: string } | { readonly refused: string };
}

/** How a client reached this server. */
export type Arrival =
  | { readonly path: 'direct'; readonly address: string }
  /** Through another coordinator. `address` is the client's; the header is no longer in the socket. */
  | { readonly path: 'forwarded'; readonly address: string; readonly header: Buffer };

interface PreHandshakeOptions {
  clock: Clock;
  /** The first record is complete. The socket returns it again when it is read. */
  onFirstRecord: (socket: Socket, arrival: Arrival) => void;
  /** Absent: no other coordinator forwards connections, and a header is as invalid as other bytes that are not TLS. */
  forwarding?: ForwardingHeaders;
  onRefused: (refusal: PreHandshakeRefusal) => void;
  /** How many threads share the limits. Absent: one. */
  threads?: number;
}

interface Connection {
  socket: Socket;
  arrival: Arrival;
  network: string;
  since: number;
  received: Buffer[];
  bytes: number;
  /** Number of bytes needed before the next check. */
  needed: number;
  read: () => void;
  forget: () => void;
}

/** Returns the oldest connection. A Set keeps the order of insertion. */
const oldestOf = (sockets: ReadonlySet<Connection>): Connection | undefined => sockets.values().next().value;

export class PreHandshakeSockets {
  readonly #options: PreHandshakeOptions;
  readonly #maxTotal: number;
  readonly #maxPerNetwork: number;
  readonly #all = new Set<Connection>();
  readonly #byNetwork = new Map<string, Set<Connection>>();
  #timer: Timer | undefined;
  #isClosingSurplus = false;
  #isClosed = false;

  constructor(options: PreHandshakeOptions) {
    this.#options = options;
    const { threads = 1 } = options;
    this.#maxTotal = Math.ceil(MAX_PRE_HANDSHAKE / threads);
    this.#maxPerNetwork = Math.ceil(MAX_PRE_HANDSHAKE_PER_NETWORK / threads);
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
    const connection: Connection = {
      ...{
        socket,
        arrival: { path: 'direct', address },
        network: '',
        since: this.#options.clock.monotonic(),
      },
      ...{ received: [], bytes: 0, needed: HEADER_BYTES },
      read: () => this.#read(connection),
      forget: () => this.#forget(connection),
    };
    this.#all.add(connection);
    socket.on('error', ignore);
    socket.once('close', connection.forget);
    socket.on('readable', connection.read);
    this.#count(connection, address);
    this.#timer ??= this.#options.clock.after(FIRST_RECORD_TIMEOUT_MS, () => this.#closeOverdue());
  }

  /** Closes all connections, also those that are added later. Reports none of them. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const { socket } of this.#all) socket.destroy();
  }

  #read(connection: Connection): void {
    const { socket } = connection;
    for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
      connection.received.push(chunk);
      connection.bytes += chunk.length;
    }
    if (connection.bytes < connection.needed) return;
    const { received } = connection;
    const bytes = received.length === 1 && received[0] ? received[0] : Buffer.concat(received);
    connection.received = [bytes];
    this.#parse(connection, bytes);
  }

  #parse(connection: Connection, bytes: Buffer): void {
    const { socket, arrival } = connection;
    const { forwarding, onFirstRecord } = this.#options;
    const headerBytes = arrival.path === 'direct' ? forwarding?.lengthIn(bytes) : undefined;
    connection.needed = headerBytes ?? firstRecordBytes(bytes);
    if (bytes.length < connection.needed) return;
    if (forwarding && headerBytes !== undefined) {
      this.#readHeader(connection, forwarding, bytes);
      return;
    }
    this.#forget(connection);
    socket.unshift(bytes);
    onFirstRecord(socket, arrival);
  }

  /** From here on the connection counts for the network of the client. */
  #readHeader(connection: Connection, forwarding: ForwardingHeaders, bytes: Buffer): void {
    const header = bytes.subarray(0, connection.needed);
    const rest = bytes.subarray(connection.needed);
    const verdict = forwarding.read(header);
    if ('refused' in verdict) {
      this.#refuse(connection, 401, verdict.refused);
      return;
    }
    this.#uncount(connection);
    connection.arrival = { path: 'forwarded', address: verdict.client, header };
    this.#count(connection, verdict.client);
    connection.received = [rest];
    connection.bytes = rest.length;
    connection.needed = HEADER_BYTES;
    if (rest.length >= HEADER_BYTES) this.#parse(connection, rest);
  }

  #count(connection: Connection, address: string): void {
    connection.network = networkOf(address);
    const ofNetwork = this.#byNetwork.get(connection.network) ?? new Set();
    this.#byNetwork.set(connection.network, ofNetwork.add(connection));
    if (this.#isTooMany(ofNetwork)) void this.#closeSurplus();
  }

  #uncount(connection: Connection): void {
    const ofNetwork = this.#byNetwork.get(connection.network);
    ofNetwork?.delete(connection);
    if (ofNetwork?.size === 0) this.#byNetwork.delete(connection.network);
  }

  #forget(connection: Connection): void {
    const { socket, read, forget } = connection;
    this.#all.delete(connection);
    this.#uncount(connection);
    socket.off('readable', read);
    socket.off('close', forget);
    if (!socket.destroyed) socket.off('error', ignore);
  }

  #isTooMany(ofNetwork: ReadonlySet<Connection>): boolean {
    return this.#all.size > this.#maxTotal || ofNetwork.size > this.#maxPerNetwork;
  }

  /**
   * Waits two turns of the event loop before closing the oldest: data of connections accepted in this turn is read in
   * the next one.
   */
  async #closeSurplus(): Promise<void> {
    if (this.#isClosingSurplus) return;
    this.#isClosingSurplus = true;
    const { clock } = this.#options;
    await clock.yieldToEventLoop();
    await clock.yieldToEventLoop();
    this.#isClosingSurplus = false;
    for (const ofNetwork of this.#byNetwork.values()) {
      while (ofNetwork.size > this.#maxPerNetwork)
        this.#refuse(
          oldestOf(ofNetwork),
          429,
          'too many connections from this network without a TLS handshake',
        );
    }
    while (this.#all.size > this.#maxTotal)
      this.#refuse(oldestOf(this.#all), 429, 'too many connections without a TLS handshake');
  }

  #closeOverdue(): void {
    const { clock } = this.#options;
    const overdue = clock.monotonic() - FIRST_RECORD_TIMEOUT_MS;
    for (const connection of this.#all) {
      if (connection.since > overdue) break;
      this.#refuse(connection, 408, 'timed out before the TLS handshake');
    }
    const oldest = oldestOf(this.#all);
    this.#timer = oldest && clock.after(oldest.since - overdue, () => this.#closeOverdue());
  }

  #refuse(connection: Connection | undefined, code: PreHandshakeRefusal['code'], reason: string): void {
    if (!connection) return;
    const { socket, arrival } = connection;
    socket.destroy();
    this.#forget(connection);
    this.#options.onRefused({ remoteAddress: arrival.address, code, reason });
  }
}

/**
 * Returns the total length of the first record. If it is not TLS, returns the number of received bytes, and TLS rejects
 * it later.
 */
export function firstRecordBytes(bytes: Buffer): number {
  const length = bytes.readUInt16BE(LENGTH_OFFSET);
  const isTls = bytes[0] === HANDSHAKE_TYPE && length <= MAX_RECORD_BYTES;
  return isTls ? HEADER_BYTES + length : bytes.length;
}

function ignore(): void {
  // The `close` event follows.
}
