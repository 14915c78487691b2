/**
 * Which forwarding headers the leader accepts. A header is valid once, in one term. So a recorded header is of no use to
 * an attacker, and the clocks of the coordinators do not matter.
 */
import { decodeProxyHeader, type ForwardedConnection, proxyHeaderLength } from './proxy-header.js';

/**
 * Numbers that may arrive after a higher number. Headers of one follower overtake each other by the time of a repeated
 * packet, some seconds.
 */
export const REPLAY_WINDOW = 65_536;
/** Processes that forward in one term: followers, and their restarts. The longest unused one is forgotten first. */
export const MAX_DOORS = 64;

/** The numbers of one process that were received. Constant size (RFC 4303, 3.4.3). */
class ReplayWindow {
  readonly #received = new Uint8Array(REPLAY_WINDOW / 8);
  #highest = 0;

  /** Returns false if the number was added before or is too low to know. */
  add(sequence: number): boolean {
    if (sequence < 1 || sequence <= this.#highest - REPLAY_WINDOW) return false;
    if (sequence - this.#highest >= REPLAY_WINDOW) this.#received.fill(0);
    else for (let passed = this.#highest + 1; passed <= sequence; passed += 1) this.#set(passed, false);
    this.#highest = Math.max(this.#highest, sequence);
    if (this.#has(sequence)) return false;
    this.#set(sequence, true);
    return true;
  }

  #has(sequence: number): boolean {
    const bit = sequence % REPLAY_WINDOW;
    return ((this.#received[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  #set(sequence: number, isReceived: boolean): void {
    const bit = sequence % REPLAY_WINDOW;
    const byte = this.#received[bit >> 3] ?? 0;
    this.#received[bit >> 3] = isReceived ? byte | (1 << (bit & 7)) : byte & ~(1 << (bit & 7));
  }
}

type HeaderVerdict = { readonly client: string } | { readonly refused: string };

const UNSIGNED = { refused: 'the PROXY header has no valid signature of this fleet' };

/** Checks the signature alone. The leader checks the same header again. */
export class SignedHeaders {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  lengthIn(bytes: Buffer): number | undefined {
    return proxyHeaderLength(bytes);
  }

  read(header: Buffer): HeaderVerdict {
    const connection = decodeProxyHeader(header, this.#key);
    return connection ? this.judge(connection) : UNSIGNED;
  }

  protected judge({ client }: ForwardedConnection): HeaderVerdict {
    return { client: client.address };
  }
}

/** The headers that the leader of `term` accepts. */
export class LeaderHeaders extends SignedHeaders {
  readonly #term: number;
  readonly #doors = new Map<string, ReplayWindow>();

  constructor(key: Uint8Array, term: number) {
    super(key);
    this.#term = term;
  }

  protected override judge({ client, doorId, sequence, term }: ForwardedConnection): HeaderVerdict {
    if (term !== this.#term) return { refused: 'the PROXY header is of another term' };
    const window = this.#doors.get(doorId) ?? new ReplayWindow();
    this.#doors.delete(doorId);
    this.#doors.set(doorId, window);
    const [unused] = this.#doors.keys();
    if (unused !== undefined && this.#doors.size > MAX_DOORS) this.#doors.delete(unused);
    return window.add(sequence)
      ? { client: client.address }
      : { refused: 'the PROXY header was received before' };
  }
}
