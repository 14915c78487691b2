/** Runs a job at the times of a cron pattern, by this machine's wall clock and zone, whatever is done to that clock. */

import { nextMatch } from '../shared/calendar/cron-matches.js';
import { parseCron } from '../shared/calendar/cron-pattern.js';
import { timeZone } from '../shared/calendar/time-zone.js';
import type { Clock, Timer } from '../shared/process/time/clock.js';

/** So late at most is noticed that the clock was set, ms. */
const POLL_INTERVAL_MS = 60_000;
const UTC = 'UTC';

/**
 * A clock that is set ahead makes one run of all that it skipped; one that is set back has the job run at the next time that it
 * shows, not when it shows again what it has shown. A run that is due while the last one goes on is left out.
 */
export class CronTimer {
  readonly #clock: Clock;
  readonly #run: () => Promise<void>;
  readonly #next: (now: number) => number | undefined;
  #timer: Timer | undefined;
  /** What the clock showed at the last look. */
  #seenAt: number;
  /** Of the next run; undefined for a pattern that never matches. */
  #dueAt: number | undefined;
  #isRunning = false;

  /** `run` never rejects. Throws an Error for a pattern that is none. */
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
