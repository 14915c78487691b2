/**
 * The last refused create of each DaemonSet's Pods. `why` shows it for every node, because all nodes wait for one
 * retry.
 */
import type { CreateRefusal } from '../../decisions/reasons/reason-code.js';

interface KeptRefusal extends CreateRefusal {
  /** Hash of the refused Pod's revision. */
  hash: string;
}

/** Kept in memory: after a restart the first retry, which is immediate, records it again. */
export class CreateRefusals {
  readonly #byUid = new Map<string, KeptRefusal>();

  /** Records a refused create of a Pod of revision `hash`. `now`: ms since the epoch. */
  refused(uid: string, hash: string, message: string, now: number): void {
    const before = this.#byUid.get(uid);
    const { count, firstAt } = before?.hash === hash ? before : { count: 0, firstAt: now };
    this.#byUid.set(uid, { hash, message, count: count + 1, firstAt, lastAt: now });
  }

  /** Drops the refusal of revision `hash`, because a Pod of it was accepted. */
  accepted(uid: string, hash: string): void {
    if (this.#byUid.get(uid)?.hash === hash) this.#byUid.delete(uid);
  }

  /** Forgets a DaemonSet that is deleted or has another template. */
  forget(uid: string): void {
    this.#byUid.delete(uid);
  }

  /** Undefined if no create was refused since the last accepted one. */
  of(uid: string): CreateRefusal | undefined {
    return this.#byUid.get(uid);
  }
}
