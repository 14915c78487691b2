/** The last refused create of each DaemonSet's Pods, for `why`: most of its nodes wait for the retry of one of them. */
import type { CreateRefusal } from '../decisions/reason-code.js';

interface KeptRefusal extends CreateRefusal {
  /** Hash of the revision whose Pod was refused. */
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

  /** A Pod of revision `hash` was accepted: what was refused before is over. */
  accepted(uid: string, hash: string): void {
    if (this.#byUid.get(uid)?.hash === hash) this.#byUid.delete(uid);
  }

  /** Forgets a DaemonSet that is deleted or has another template. */
  forget(uid: string): void {
    this.#byUid.delete(uid);
  }

  /** Undefined: no create was refused since one was accepted. */
  of(uid: string): CreateRefusal | undefined {
    return this.#byUid.get(uid);
  }
}
