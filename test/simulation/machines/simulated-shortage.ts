/** The free memory and disk space of a simulated host, as its agent measures them. */
import type { PressureHandling } from '../../../agent/assembly/agent-pressure.js';
import {
  DEFAULT_EVICTION_HARD,
  type Signal,
  thresholdsOf,
} from '../../../agent/decisions/eviction/eviction-thresholds.js';
import type { ScarceResource } from '../histories/history.js';
import type { ProgramLifetime } from './program-lifetime.js';
import type { Timeline } from './timeline.js';

const MIB = 1_048_576;
const CAPACITY = 8_192 * MIB;
/** Less than any threshold, and more. */
const [LITTLE, ENOUGH] = [50 * MIB, 4_096 * MIB];
/** Time for which a condition outlasts its cause. Upstream's five minutes would be most of a history. */
const TRANSITION_MS = 30_000;
const SIGNALS: Record<ScarceResource, Signal> = { memory: 'memory.available', disk: 'nodefs.available' };

const THRESHOLDS = thresholdsOf({
  evictionHard: DEFAULT_EVICTION_HARD,
  evictionSoft: '',
  evictionSoftGracePeriod: '',
  evictionMinimumReclaim: '',
});

export class HostShortage {
  readonly #scarce = new Set<ScarceResource>();
  readonly #timeline: Timeline;
  #endedAtMs: number | undefined;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  /** When there was last too little of something, ms; undefined = never. */
  get lastAtMs(): number | undefined {
    return this.#scarce.size > 0 ? this.#timeline.now : this.#endedAtMs;
  }

  set(of: ScarceResource, isScarce: boolean): void {
    if (isScarce) this.#scarce.add(of);
    else if (this.#scarce.delete(of)) this.#endedAtMs = this.#timeline.now;
  }

  /** There is enough of all. */
  end(): void {
    for (const of of [...this.#scarce]) this.set(of, false);
  }

  /** As one life of the agent looks at it. */
  handlingFor(life: ProgramLifetime): PressureHandling {
    const observation = (of: ScarceResource) =>
      [SIGNALS[of], { available: this.#scarce.has(of) ? LITTLE : ENOUGH, capacity: CAPACITY }] as const;
    return {
      thresholds: THRESHOLDS,
      transitionMs: TRANSITION_MS,
      softGraceSeconds: 0,
      readSignals: () =>
        life.perform(() => ({
          observations: new Map([observation('memory'), observation('disk')]),
          hasImageFs: false,
        })),
    };
  }
}
