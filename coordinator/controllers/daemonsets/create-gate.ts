/** Holds back creates of a DaemonSet whose creates fail: the shell around `slow-start`. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import {
  afterCreate,
  afterRefusal,
  mayCreate,
  type SlowStart,
} from '../../decisions/daemonsets/slow-start.js';

/** One per DaemonSet. Keys held back come again by `wake`, as many at a time as may create. */
export class CreateGate {
  readonly #clock: Clock;
  readonly #wake: (key: string) => void;
  readonly #waiting = new Set<string>();
  #underWay = 0;
  #slow: SlowStart | undefined;

  constructor(clock: Clock, wake: (key: string) => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** True: the key may create now and must tell by `created`, `refused` or `left`. False: it will be woken. */
  tryEnter(key: string): boolean {
    if (!mayCreate(this.#slow, this.#underWay, this.#clock.monotonic())) {
      this.#waiting.add(key);
      return false;
    }
    this.#underWay += 1;
    return true;
  }

  created(): void {
    this.#underWay -= 1;
    this.#slow = afterCreate(this.#slow);
  }

  /** The key that entered has nothing to create. */
  cancelled(): void {
    this.#underWay -= 1;
  }

  /** The key itself is the first to try again. */
  refused(key: string): void {
    this.#underWay -= 1;
    this.#slow = afterRefusal(this.#slow, this.#clock.monotonic());
    this.#waiting.add(key);
    this.#clock.after(this.#slow.notBefore - this.#clock.monotonic(), () => this.wakeWaiting());
  }

  /** Wakes as many as may create. To be called whenever a key was looked at: one that was woken may not need its turn. */
  wakeWaiting(): void {
    const now = this.#clock.monotonic();
    let expected = this.#underWay;
    for (const key of this.#waiting) {
      if (!mayCreate(this.#slow, expected, now)) return;
      expected += 1;
      this.#waiting.delete(key);
      this.#wake(key);
    }
  }
}

/** Whether a create was refused for that (`NamespaceLifecycle`). */
export function isNamespaceEnding(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
  );
}
