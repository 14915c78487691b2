/** Readings of one host over a time span, in a ring buffer of fixed steps. Each step keeps its highest value. */
import type { ReadingSeries } from '../../../shared/kube/fleet/host-reading-types.js';
import type { HeartbeatReading } from '../../../shared/link/heartbeat-reading.js';

const CHANNELS = ['cpu', 'memory', 'disk', 'roundTripMs'] as const;
/** Ratios are stored in units of 1/10,000. */
const SCALE = { cpu: 10_000, memory: 10_000, disk: 10_000, roundTripMs: 1 } as const;
const UNKNOWN = 0xffff;

export class ReadingRing {
  readonly #stepSeconds: number;
  readonly #count: number;
  /** Values of the last `#count` steps up to `#last`, counted since the epoch. 0: there is no reading yet. */
  readonly #values: Uint16Array;
  #last = 0;

  constructor(stepSeconds: number, count: number) {
    this.#stepSeconds = stepSeconds;
    this.#count = count;
    this.#values = new Uint16Array(count * CHANNELS.length);
  }

  /** `now` in ms since the epoch. Cheap, because it runs for each heartbeat. */
  add(now: number, reading: HeartbeatReading): void {
    const step = Math.floor(now / 1000 / this.#stepSeconds);
    if (step !== this.#last) this.#moveTo(step);
    const base = this.#placeOf(step);
    for (const [index, channel] of CHANNELS.entries()) {
      const value = reading[channel];
      if (value === undefined) continue;
      const next = Math.min(Math.round(value * SCALE[channel]), UNKNOWN - 1);
      const known = this.#values[base + index] ?? UNKNOWN;
      if (known === UNKNOWN || next > known) this.#values[base + index] = next;
    }
  }

  /** Returns all steps from the first known one up to now. Steps without a reading are null. */
  series(now: number): ReadingSeries {
    const last = Math.floor(now / 1000 / this.#stepSeconds);
    const all = Array.from({ length: this.#count }, (_, index) => last - this.#count + 1 + index);
    const first = all.findIndex((step) => this.#holds(step));
    const steps = first < 0 ? [] : all.slice(first);
    const column = (channel: (typeof CHANNELS)[number]) =>
      steps.map((step) => this.#valueOf(step, CHANNELS.indexOf(channel), SCALE[channel]));
    return {
      stepSeconds: this.#stepSeconds,
      times: steps.map((step) => step * this.#stepSeconds),
      cpu: column('cpu'),
      memory: column('memory'),
      disk: column('disk'),
      roundTripMs: column('roundTripMs'),
    };
  }

  /**
   * Clears the steps between the last one and a later one. A clock that was set back within the kept time changes
   * nothing, and otherwise all steps are cleared: they are of a time that has not come.
   */
  #moveTo(step: number): void {
    if (this.#isKept(step)) return;
    const first =
      step > this.#last ? Math.max(this.#last + 1, step - this.#count + 1) : step - this.#count + 1;
    for (let next = first; next <= step; next += 1) {
      const base = this.#placeOf(next);
      this.#values.fill(UNKNOWN, base, base + CHANNELS.length);
    }
    this.#last = step;
  }

  #placeOf(step: number): number {
    return (step % this.#count) * CHANNELS.length;
  }

  #isKept(step: number): boolean {
    return step <= this.#last && step > this.#last - this.#count;
  }

  #holds(step: number): boolean {
    const base = this.#placeOf(step);
    const values = this.#values.subarray(base, base + CHANNELS.length);
    return this.#isKept(step) && values.some((value) => value !== UNKNOWN);
  }

  #valueOf(step: number, channel: number, scale: number): number | null {
    if (!this.#isKept(step)) return null;
    const value = this.#values[this.#placeOf(step) + channel] ?? UNKNOWN;
    return value === UNKNOWN ? null : value / scale;
  }
}
