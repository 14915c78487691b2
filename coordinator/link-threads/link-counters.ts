/**
 * Numbers of each link that one thread writes and the other one reads without a message: when the agent last sent something,
 * and how many bytes of frames have left the coordinator or were handled.
 */

/** Links of one thread. An agent above the limit is refused. */
const MAX_LINKS_PER_THREAD = 65_536;
/** Numbers per link, and their places. */
const WIDTH = 3;
const ACTIVE_AT = 0;
const ACCEPTED = 1;
const HANDLED = 2;

/** Milliseconds by a clock that all threads share. `performance.now()` starts at another time in each thread. */
function sharedNowMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

export class LinkCounters {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Float64Array;

  /** `memory`: that of the other thread. Its size limits the links. */
  constructor(memory = new SharedArrayBuffer(MAX_LINKS_PER_THREAD * WIDTH * Float64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#numbers = new Float64Array(memory);
  }

  /** How many links have a slot. */
  get capacity(): number {
    return this.#numbers.length / WIDTH;
  }

  /** A new link has the slot. */
  begin(slot: number): void {
    this.#numbers[slot * WIDTH + ACCEPTED] = 0;
    this.#numbers[slot * WIDTH + HANDLED] = 0;
    this.recordActivity(slot);
  }

  recordActivity(slot: number): void {
    this.#numbers[slot * WIDTH + ACTIVE_AT] = sharedNowMs();
  }

  /** Milliseconds since the last byte arrived. */
  silentForMs(slot: number): number {
    return Math.max(0, sharedNowMs() - (this.#numbers[slot * WIDTH + ACTIVE_AT] ?? 0));
  }

  addAccepted(slot: number, bytes: number): void {
    this.#numbers[slot * WIDTH + ACCEPTED] = this.accepted(slot) + bytes;
  }

  /** Bytes of frames that the operating system has accepted. */
  accepted(slot: number): number {
    return this.#numbers[slot * WIDTH + ACCEPTED] ?? 0;
  }

  addHandled(slot: number, bytes: number): void {
    this.#numbers[slot * WIDTH + HANDLED] = this.handled(slot) + bytes;
  }

  /** Bytes of the agent's frames that the main thread has handled. */
  handled(slot: number): number {
    return this.#numbers[slot * WIDTH + HANDLED] ?? 0;
  }
}
