/**
 * Refused connections of a link thread. They are reported together once a second: in a flood, a message for each one would
 * cost the main thread more than the thread takes off it.
 */
import type { Clock } from '../../shared/process/time/clock.js';
import { refusalKind } from '../api/limits/refused-peers.js';
import type { LinkRefusal } from '../api/ports.js';

const INTERVAL_MS = 1_000;
/** Kinds of refusals in one report. Refusals of other kinds are only counted. */
const MAX_KINDS = 256;

interface CountedRefusal {
  readonly refusal: LinkRefusal;
  /** How many refusals of this kind there were. */
  readonly times: number;
}

export interface RefusalReport {
  readonly refusals: readonly CountedRefusal[];
  /** How many more refusals there were, of other kinds. */
  readonly others: number;
}

export class RefusalReports {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #post: (report: RefusalReport) => void;
  #byKind = new Map<string, CountedRefusal>();
  #others = 0;

  constructor(clock: Pick<Clock, 'after'>, post: (report: RefusalReport) => void) {
    this.#clock = clock;
    this.#post = post;
  }

  add(refusal: LinkRefusal): void {
    if (this.#byKind.size === 0) this.#clock.after(INTERVAL_MS, () => this.flush());
    const kind = refusalKind(refusal);
    const known = this.#byKind.get(kind);
    if (known || this.#byKind.size < MAX_KINDS)
      this.#byKind.set(kind, { refusal: known?.refusal ?? refusal, times: (known?.times ?? 0) + 1 });
    else this.#others += 1;
  }

  /** Reports the refusals since the last report, if there were any. */
  flush(): void {
    if (this.#byKind.size === 0) return;
    const report = { refusals: [...this.#byKind.values()], others: this.#others };
    this.#byKind = new Map();
    this.#others = 0;
    this.#post(report);
  }
}
