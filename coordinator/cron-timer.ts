/** Runs a job at the times of a cron pattern in this machine's time zone, also when the clock is set. */

import { nextMatch } from '../shared/calendar/cron-matches.js';
import { parseCron } from '../shared/calendar/cron-pattern.js';
import { timeZone } from '../shared/calendar/time-zone.js';
import type { Clock, Timer } from '../shared/process/time/clock.js';

/** Maximum delay until a clock step is noticed. */
const POLL_INTERVAL_MS = 60_000;
const UTC = 'UTC';

/**
 * If the clock is set ahead, all skipped runs become one run. If it is set back, the job runs at the next matching
 * time, and not again at times that have already passed. A run that is due during another run is skipped.
 */
export class CronTimer {
  readonly #clock: Clock;
  readonly #run: () => Promise<void>;
  readonly #next: (now: number) => number | undefined;
  #timer: Timer | undefined;
  /** The clock at the last check. */
  #seenAt: number;
  /** Time of the next run; undefined for a pattern that never matches. */
  #dueAt: number | undefined;
  #isRunning = false;

  /** `run` must not reject. Throws an Error for an invalid pattern. */
  constructor(pattern: string, clock: Clock, run: () => Promise<void>) {
    const parsed = parseCron(pattern);
    const zone = timeZone(Intl.DateTimeFormat().resolvedOptions().timeZone) ?? timeZone(UTC);
    this.#next = (now) => zone && nextMatch(parsed, zone, now);
    this.#clock = clock;
    this.#run = run;
    this.#seenAt = clock.now();
    this.#dueAt = this.#next(this.#seenAt);
    this.#arm();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #arm(): void {
    const untilDue = (this.#dueAt ?? Number.POSITIVE_INFINITY) - this.#seenAt;
    this.#timer = this.#clock.after(Math.min(untilDue, POLL_INTERVAL_MS), () => this.#check());
  }

  #check(): void {
    const now = this.#clock.now();
    const isDue = this.#dueAt !== undefined && now >= this.#dueAt;
    if (isDue || now < this.#seenAt) this.#dueAt = this.#next(now);
    this.#seenAt = now;
    this.#arm();
    if (isDue) void this.#runUnlessRunning();
  }

  async #runUnlessRunning(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    await this.#run();
    this.#isRunning = false;
  }
}
