/** Delays creates of a DaemonSet's Pods after a create failed, as `slow-start` decides. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import {
  afterCreate,
  afterRefusal,
  mayCreate,
  type SlowStart,
} from '../../decisions/daemonsets/slow-start.js';

/** One for each DaemonSet. Delayed keys are woken by `wake`, as many at a time as may create. */
export class CreateGate {
  readonly #clock: Clock;
  readonly #wake: (key: string) => void;
  readonly #waiting = new Set<string>();
  #running = 0;
  #slow: SlowStart | undefined;

  constructor(clock: Clock, wake: (key: string) => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /**
   * Returns true if the key may create now. It must then call `created`, `refused` or `cancelled`. Otherwise it is
   * woken later.
   */
  tryEnter(key: string): boolean {
    if (!mayCreate(this.#slow, this.#running, this.#clock.monotonic())) {
      this.#waiting.add(key);
      return false;
    }
    this.#running += 1;
    return true;
  }

  created(): void {
    this.#running -= 1;
    this.#slow = afterCreate(this.#slow);
  }

  /** Ends an attempt that has nothing to create. */
  cancelled(): void {
    this.#running -= 1;
  }

  /** The key itself is the first to retry. */
  refused(key: string): void {
    this.#running -= 1;
    this.#slow = afterRefusal(this.#slow, this.#clock.monotonic());
    this.#waiting.add(key);
    this.#clock.after(this.#slow.notBefore - this.#clock.monotonic(), () => this.wakeWaiting());
  }

  /**
   * Wakes as many keys as may create. Call it after each reconcile, because a woken key may not need its create any
   * longer.
   */
  wakeWaiting(): void {
    const now = this.#clock.monotonic();
    let expected = this.#running;
    for (const key of this.#waiting) {
      if (!mayCreate(this.#slow, expected, now)) return;
      expected += 1;
      this.#waiting.delete(key);
      this.#wake(key);
    }
  }

  /** Wakes all keys. Call it when another gate replaces this one, which would not know that they wait. */
  close(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const key of waiting) this.#wake(key);
  }
}

/** Returns true if a create was refused because its namespace is being deleted (`NamespaceLifecycle`). */
export function isNamespaceEnding(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
  );
}
