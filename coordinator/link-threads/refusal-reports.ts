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
  /** Connections that the kernel could not hand over, for example above the limit of open files. */
  readonly acceptFailures: { readonly count: number; readonly lastReason: string } | undefined;
}

export class RefusalReports {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #post: (report: RefusalReport) => void;
  #byKind = new Map<string, CountedRefusal>();
  #others = 0;
  #acceptFailures: RefusalReport['acceptFailures'];
  #isDue = false;

  constructor(clock: Pick<Clock, 'after'>, post: (report: RefusalReport) => void) {
    this.#clock = clock;
    this.#post = post;
  }

  add(refusal: LinkRefusal): void {
    this.#schedule();
    const kind = refusalKind(refusal);
    const known = this.#byKind.get(kind);
    if (known || this.#byKind.size < MAX_KINDS)
      this.#byKind.set(kind, { refusal: known?.refusal ?? refusal, times: (known?.times ?? 0) + 1 });
    else this.#others += 1;
  }

  acceptFailed(reason: string): void {
    this.#schedule();
    this.#acceptFailures = { count: (this.#acceptFailures?.count ?? 0) + 1, lastReason: reason };
  }

  /** Reports what happened since the last report, if anything did. */
  flush(): void {
    if (!this.#isDue) return;
    const report = {
      refusals: [...this.#byKind.values()],
      others: this.#others,
      acceptFailures: this.#acceptFailures,
    };
    this.#isDue = false;
    this.#byKind = new Map();
    this.#others = 0;
    this.#acceptFailures = undefined;
    this.#post(report);
  }

  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#clock.after(INTERVAL_MS, () => this.flush());
  }
}
