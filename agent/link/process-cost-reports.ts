/** Tells the hub now and then what this process costs its host: soon after the link is up, then by the hour. */
import type { MetersReport } from '../../shared/link/messages/link-messages.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';

/** By then a heartbeat has been answered, and so the round trip is known. */
const FIRST_MS = 15_000;
const INTERVAL_MS = 3_600_000;

export class ProcessCostReports {
  readonly #clock: Clock;
  readonly #report: () => Omit<MetersReport, 'kind' | 'uptimeMs'>;
  readonly #began: number;
  #timer: Timer | undefined;

  constructor(clock: Clock, report: () => Omit<MetersReport, 'kind' | 'uptimeMs'>) {
    this.#clock = clock;
    this.#report = report;
    this.#began = clock.monotonic();
  }

  /** The link is up. */
  start(send: (report: MetersReport) => void): void {
    this.stop();
    this.#tellAfter(FIRST_MS, send);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #tellAfter(delayMs: number, send: (report: MetersReport) => void): void {
    this.#timer = this.#clock.after(delayMs, () => {
      const upMs = Math.round(this.#clock.monotonic() - this.#began);
      send({ kind: 'meters', uptimeMs: upMs, ...this.#report() });
      this.#tellAfter(INTERVAL_MS, send);
    });
  }
}
