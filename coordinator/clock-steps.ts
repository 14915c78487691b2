/** Detects steps of the wall clock, so that times in memory can be corrected. */

import type { Logger } from '../shared/process/output/logger.js';
import type { Component } from '../shared/process/service/program-lifecycle.js';
import type { Clock } from '../shared/process/time/clock.js';
import { every } from '../shared/process/time/clock.js';
import { AHEAD_MS, type ClockStep, storedTime } from './decisions/restore/stored-time.js';

const POLL_INTERVAL_MS = 1_000;
/**
 * Smaller differences are within the tolerated clock skew of hosts. Pauses of the whole machine are no steps: no open
 * link survives a pause this long.
 */
const STEP_MS = 30_000;
/** Maximum number of remembered steps. Times before the oldest one are treated like times before the start. */
const REMEMBERED = 16;

interface ClockStepsDeps {
  clock: Clock;
  log: Logger;
}

type StepListener = (deltaMs: number) => void;

export class ClockSteps implements Component {
  readonly name = 'clock';
  /**
   * The same clock, which checks for a step before it returns the time. Listeners have been called when a caller gets
   * the new time.
   */
  readonly clock: Clock;
  /**
   * Converts a stored time to the current wall clock, ms since the epoch (`storedTime`). Returns NaN for an invalid
   * time.
   */
  readonly timeOf = (stored: string): number => {
    this.#check();
    const atMs = Date.parse(stored);
    return this.#steps.length === 0 ? atMs : storedTime(atMs, this.#steps, this.#deps.clock.now());
  };
  readonly #deps: ClockStepsDeps;
  /** Wall clock minus monotonic clock; undefined before the start and after the stop. */
  #shiftMs: number | undefined;
  /** Monotonic time of the last step. */
  #setAt = 0;
  #steps: readonly ClockStep[] = [];
  /** Like `#shiftMs`, at the last remembered step. */
  #stepShiftMs = 0;
  readonly #listeners: StepListener[] = [];
  #stop: () => void = () => undefined;

  constructor(deps: ClockStepsDeps) {
    const { clock } = deps;
    this.#deps = deps;
    this.clock = {
      now: () => {
        this.#check();
        return clock.now();
      },
      monotonic: () => clock.monotonic(),
      after: (delayMs, action) => clock.after(delayMs, action),
      yieldToEventLoop: () => clock.yieldToEventLoop(),
    };
  }

  /** Adds a listener. It is called after each step of 30 s or more with the step's size, ms: negative if the clock was set back. */
  onStep(listener: StepListener): void {
    this.#listeners.push(listener);
  }

  start(): void {
    const { clock } = this.#deps;
    this.#shiftMs = shiftOf(clock);
    this.#stepShiftMs = this.#shiftMs;
    this.#setAt = clock.monotonic();
    this.#stop = every(clock, POLL_INTERVAL_MS, () => this.#check());
  }

  /** Returns the time since the last step, or since the start, ms. */
  sinceStepMs(): number {
    this.#check();
    return this.#deps.clock.monotonic() - this.#setAt;
  }

  stop(): void {
    this.#stop();
    this.#shiftMs = undefined;
  }

  #check(): void {
    if (this.#shiftMs === undefined) return;
    const { clock, log } = this.#deps;
    const shiftMs = shiftOf(clock);
    this.#remember(shiftMs);
    const byMs = Math.round(shiftMs - this.#shiftMs);
    if (Math.abs(byMs) < STEP_MS) return;
    this.#shiftMs = shiftMs;
    this.#setAt = clock.monotonic();
    log.warn({ bySeconds: Math.round(byMs / 1_000) }, 'clock step on this machine');
    for (const listener of this.#listeners) listener(byMs);
  }

  /** Remembers also small steps, because times of readiness are compared in seconds. */
  #remember(shiftMs: number): void {
    const byMs = Math.round(shiftMs - this.#stepShiftMs);
    if (Math.abs(byMs) <= AHEAD_MS) return;
    this.#stepShiftMs = shiftMs;
    const toMs = this.#deps.clock.now();
    this.#steps = [...this.#steps, { fromMs: toMs - byMs, toMs }].slice(-REMEMBERED);
  }
}

function shiftOf(clock: Clock): number {
  return clock.now() - clock.monotonic();
}
