/** Reports the resource usage of this process to the hub: soon after each connect, then hourly. */
import type { MetersReport } from '../../shared/link/messages/link-messages.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';

/** By then a heartbeat was answered, so the round-trip time is known. */
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
