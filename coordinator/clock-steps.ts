/** Notices when this machine's wall clock is set: what is reckoned by it in memory is reckoned anew. */

import type { Logger } from '../shared/process/output/logger.js';
import type { Component } from '../shared/process/service/program-lifecycle.js';
import type { Clock } from '../shared/process/time/clock.js';
import { every } from '../shared/process/time/every.js';
import { AHEAD_MS, type ClockStep, storedTime } from './decisions/restore/stored-time.js';

const POLL_INTERVAL_MS = 1_000;
/** Less is within what clocks of hosts may differ by; and links that stand outlive no pause of the whole machine that long. */
const STEP_MS = 30_000;
/** Of one that is set more often, times of before are as those of before the start. */
const REMEMBERED = 16;

interface ClockStepsDeps {
  clock: Clock;
  log: Logger;
}

type StepListener = (deltaMs: number) => void;

export class ClockSteps implements Component {
  readonly name = 'clock';
  /** The same clock; who asks it for the time gets the new one only when `onStep` has been told. */
  readonly clock: Clock;
  /** When a stored time was by the clock as it is now, ms since the epoch (`storedTime`); NaN for what is none. */
  readonly timeOf = (stored: string): number => {
    this.#check();
    const atMs = Date.parse(stored);
    return this.#steps.length === 0 ? atMs : storedTime(atMs, this.#steps, this.#deps.clock.now());
  };
  readonly #deps: ClockStepsDeps;
  /** The wall clock less the steady one; undefined while nobody is to be told. */
  #shiftMs: number | undefined;
  /** By the steady clock. */
  #setAt = 0;
  #steps: readonly ClockStep[] = [];
  /** As `#shiftMs`, when the last of these was taken. */
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

  /** For how long the wall clock has gone on as the steady one, as far as is known: since the start at most, ms. */
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
    log.warn({ bySeconds: Math.round(byMs / 1_000) }, 'the clock of this machine was set');
    for (const listener of this.#listeners) listener(byMs);
  }

  /** Smaller ones as well: a time of readiness is compared with seconds. */
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
