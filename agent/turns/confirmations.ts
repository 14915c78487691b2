/** Watches Pods that took another's place until they are confirmed, and takes them back where they are not. */

import { refText } from '../../shared/kube/meta.js';
import type { Pod } from '../../shared/kube/pod.js';
import type { Clock, Timer } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import { confirmStep, evidenceOf, type LinkEvidence } from '../decisions/confirm-step.js';
import type { HeldPod } from '../decisions/held-pod.js';
import { heldAfterConfirming, heldAfterRevertBegan } from '../decisions/held-turn.js';
import type { DesiredCache } from '../desired/desired-cache.js';

export interface ConfirmationsParts {
  cache: DesiredCache;
  /** How long the coordinator was not heard on a link that stands, ms; and to have it give a sign of life. */
  quietMs: () => number;
  askForLife: () => void;
  /** When the engine last came back, ms; 0 = it never went away. */
  engineUpSince: () => number;
  /** Hears of a Pod that is held otherwise, when that is on disk. */
  onChanged: (uid: string) => void;
  /** Hears of a Pod that goes back to its predecessor. */
  onRevert: (pod: Pod, message: string) => void;
  clock: Clock;
  log: Logger;
}

export class Confirmations {
  readonly #parts: ConfirmationsParts;
  readonly #startedAt: number;
  readonly #ready = new Set<string>();
  readonly #deciding = new Set<string>();
  /** When a sign of life was first asked for on this link, by Pod. */
  readonly #askedAt = new Map<string, number>();
  #link: { state: 'live' } | (LinkEvidence & { state: 'lost' });
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(parts: ConfirmationsParts) {
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
    this.#link = { state: 'lost', since: this.#startedAt, lastTry: 'unreachable' };
  }

  get linkIsLive(): boolean {
    return this.#link.state === 'live';
  }

  start(): void {
    this.look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  linkIsUp(): void {
    this.#askedAt.clear();
    this.#link = { state: 'live' };
    this.look();
  }

  /** A link broke, or a try to make one failed, for this reason. */
  linkFailed(reason: string): void {
    const since = this.#link.state === 'lost' ? this.#link.since : this.#parts.clock.now();
    this.#link = { state: 'lost', since, lastTry: evidenceOf(reason) };
    this.look();
  }

  /** The Pod's own status says whether it is ready. */
  sawReadiness(uid: string, isReady: boolean): void {
    const held = this.#parts.cache.get(uid);
    if (!held?.turn) {
      this.#ready.delete(uid);
      this.#askedAt.delete(uid);
      return;
    }
    if (isReady) this.#ready.add(uid);
    else this.#ready.delete(uid);
    this.look();
  }

  /** Decides on all that are to be confirmed, and when to look again. */
  look(): void {
    this.#timer?.cancel();
    if (this.#isStopped) return;
    let next = Number.POSITIVE_INFINITY;
    for (const held of this.#parts.cache.all()) {
      if (isUnconfirmed(held)) next = Math.min(next, this.#decide(held));
    }
    if (!Number.isFinite(next)) return;
    const delayMs = Math.max(next - this.#parts.clock.now(), 0);
    this.#timer = this.#parts.clock.after(delayMs, () => this.look());
  }

  /** Answers when time alone may change the decision. */
  #decide(held: Unconfirmed): number {
    const { clock, engineUpSince } = this.#parts;
    const now = clock.now();
    const step = confirmStep({
      turn: held.turn,
      isReady: this.#ready.has(held.uid),
      link: this.#evidence(now),
      upSince: Math.max(this.#startedAt, engineUpSince()),
      askedAt: this.#askedAt.get(held.uid),
      now,
    });
    if (step.kind === 'wait') {
      if (step.askedAt !== undefined) {
        this.#askedAt.set(held.uid, step.askedAt);
        this.#parts.askForLife();
      }
      return step.until ?? Number.POSITIVE_INFINITY;
    }
    this.#askedAt.delete(held.uid);
    if (step.kind === 'confirm') this.#keep(heldAfterConfirming(held), 'turn confirmed');
    else {
      this.#parts.onRevert(held.pod, step.message);
      this.#keep(heldAfterRevertBegan(held, step, now), 'turn is taken back', step);
    }
    return Number.POSITIVE_INFINITY;
  }

  #evidence(now: number): LinkEvidence {
    if (this.#link.state === 'lost') return this.#link;
    return { state: 'live', heardAt: now - this.#parts.quietMs() };
  }

  #keep(held: HeldPod, said: string, why: object = {}): void {
    const { cache, log, onChanged } = this.#parts;
    const { uid, pod } = held;
    if (this.#deciding.has(uid)) return;
    this.#deciding.add(uid);
    log.info({ uid, pod: refText(pod.metadata), ...why }, said);
    cache
      .put(held)
      .then(() => onChanged(uid))
      .catch((error: unknown) => {
        log.warn(
          { uid, err: error },
          'what became of a turn is not kept; an agent that restarts decides anew',
        );
        onChanged(uid);
      })
      .finally(() => this.#deciding.delete(uid));
  }
}

type Unconfirmed = HeldPod & { turn: NonNullable<HeldPod['turn']> & { confirmSeconds: number } };

/** What was deleted meanwhile needs no way back. */
function isUnconfirmed(held: HeldPod): held is Unconfirmed {
  const { turn, deadline, gone } = held;
  return turn?.confirmSeconds !== undefined && !turn.revert && deadline === undefined && !gone;
}
