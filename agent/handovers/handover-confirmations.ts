/** Watches Pods that took another's place until they are confirmed, and takes them back where they are not. */

import { refText } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import {
  afterBoot,
  afterConfirmation,
  afterRevertStart,
} from '../decisions/handovers/assigned-pod-handover.js';
import {
  confirmationStep,
  type LinkEvidence,
  linkEvidenceOf,
  type Stall,
} from '../decisions/handovers/confirmation-step.js';
import { type AssignedPod, isPredecessor } from '../decisions/pods/assigned-pod.js';
import type { DesiredCache } from '../desired/desired-cache.js';

/** While something is to be confirmed this process looks whether it has stood still. */
const BEAT_MS = 5_000;
/** A heartbeat that is later than this stood still; less is a busy host. */
const LATE_MS = 1_000;

interface HandoverConfirmationsDeps {
  cache: DesiredCache;
  /** Of the boot that this process runs in. */
  bootMark: string;
  /** How long the coordinator was not heard on a link that stands, ms; and to have it give a sign of life. */
  silentMs: () => number;
  pingHub: () => void;
  /** When the engine last came back, ms; 0 = it never went away. */
  engineUpSince: () => number;
  /** Hears of a Pod that is held otherwise, when that is on disk. */
  onChanged: (uid: string) => void;
  /** Hears of a Pod that goes back to its predecessor. */
  onRevert: (pod: Pod, message: string) => void;
  clock: Clock;
  log: Logger;
}

export class HandoverConfirmations {
  readonly #parts: HandoverConfirmationsDeps;
  readonly #startedAt: number;
  readonly #ready = new Set<string>();
  /** To be told once there is somebody to tell. */
  readonly #reverted: (() => void)[] = [];
  readonly #deciding = new Set<string>();
  /** When a sign of life was first asked for on this link, by Pod. */
  readonly #askedAt = new Map<string, number>();
  readonly #stalls: Stall[] = [];
  /** When the timer that runs is to fire. */
  #dueAt: number | undefined;
  #link: { state: 'live' } | (LinkEvidence & { state: 'lost' });
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(parts: HandoverConfirmationsDeps) {
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
    this.#link = { state: 'lost', since: this.#startedAt, lastTry: 'unreachable' };
  }

  get linkIsLive(): boolean {
    return this.#link.state === 'live';
  }

  /** To be called before any Pod's worker starts: one that has the host reboot again and again must not start once more. */
  async recordBoot(): Promise<void> {
    const { cache, bootMark, clock, onRevert, log } = this.#parts;
    for (const held of [...cache.all()]) {
      const noted = afterBoot(held, bootMark, clock.now());
      if (noted === held) continue;
      const { revert, boot } = noted.handover ?? {};
      const { uid, pod } = held;
      log.warn(
        { uid, pod: refText(pod.metadata), ...boot, ...(revert && { revert }) },
        'host has rebooted in a turn',
      );
      // A disk that takes no writes must not keep the host from its Pods; what was counted is in memory.
      await cache.put(noted).catch((error: unknown) => log.warn({ uid, err: error }, 'reboot is not kept'));
      if (revert) this.#reverted.push(() => onRevert(pod, revert.message));
    }
  }

  start(): void {
    for (const tell of this.#reverted.splice(0)) tell();
    this.reconcile();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  onLinkUp(): void {
    this.#askedAt.clear();
    this.#link = { state: 'live' };
    this.reconcile();
  }

  /** A link broke, or a try to make one failed, for this reason. */
  onLinkFailed(reason: string): void {
    const since = this.#link.state === 'lost' ? this.#link.since : this.#parts.clock.now();
    this.#link = { state: 'lost', since, lastTry: linkEvidenceOf(reason) };
    this.reconcile();
  }

  /** The Pod's own status says whether it is ready. */
  onReadiness(uid: string, isReady: boolean): void {
    const held = this.#parts.cache.get(uid);
    if (!held?.handover) {
      this.#ready.delete(uid);
      this.#askedAt.delete(uid);
      return;
    }
    if (isReady) this.#ready.add(uid);
    else this.#ready.delete(uid);
    this.reconcile();
  }

  /** Decides on all that are to be confirmed, and when to look again. */
  reconcile(): void {
    this.#timer?.cancel();
    if (this.#isStopped) return;
    this.#noteStall();
    let next = Number.POSITIVE_INFINITY;
    for (const held of this.#parts.cache.all()) {
      if (isUnconfirmed(held)) next = Math.min(next, this.#decide(held));
    }
    const { clock } = this.#parts;
    const now = clock.now();
    const heartbeats = [...this.#parts.cache.all()].some(isUnconfirmed);
    if (!heartbeats) {
      this.#stalls.length = 0;
      this.#dueAt = undefined;
      return;
    }
    this.#dueAt = Math.min(Math.max(next, now), now + BEAT_MS);
    this.#timer = clock.after(this.#dueAt - now, () => this.reconcile());
  }

  #noteStall(): void {
    const now = this.#parts.clock.now();
    const lateMs = now - (this.#dueAt ?? now);
    this.#dueAt = undefined;
    if (lateMs <= LATE_MS) return;
    this.#stalls.push({ until: now, ms: lateMs });
    this.#parts.log.warn(
      { lateMs },
      'agent has stood still; what is to be confirmed has its time after that',
    );
  }

  /** Answers when time alone may change the decision. */
  #decide(held: Unconfirmed): number {
    const { clock, engineUpSince } = this.#parts;
    const now = clock.now();
    const step = confirmationStep({
      handover: held.handover,
      startableAt: this.#startableAt(held),
      isReady: this.#ready.has(held.uid),
      link: this.#evidence(now),
      stalls: this.#stalls,
      upSince: Math.max(this.#startedAt, engineUpSince()),
      pingedAt: this.#askedAt.get(held.uid),
      now,
    });
    if (step.kind === 'wait') {
      if (step.askedAt !== undefined) {
        this.#askedAt.set(held.uid, step.askedAt);
        this.#parts.pingHub();
      }
      return step.until ?? Number.POSITIVE_INFINITY;
    }
    this.#askedAt.delete(held.uid);
    if (step.kind === 'confirm') this.#keep(afterConfirmation(held), 'turn confirmed');
    else {
      this.#parts.onRevert(held.pod, step.message);
      this.#keep(afterRevertStart(held, step, now), 'turn is taken back', step);
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Absent from what an earlier version wrote: then it is the beginning of the turn. */
  #startableAt(held: Unconfirmed): number | undefined {
    const waits = [...this.#parts.cache.all()].some((other) => isPredecessor(other, held));
    return waits ? undefined : (held.startableAt ?? held.handover.startedAt);
  }

  #evidence(now: number): LinkEvidence {
    if (this.#link.state === 'lost') return this.#link;
    return { state: 'live', heardAt: now - this.#parts.silentMs() };
  }

  #keep(held: AssignedPod, said: string, why: object = {}): void {
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

type Unconfirmed = AssignedPod & {
  handover: NonNullable<AssignedPod['handover']> & { confirmSeconds: number };
};

/** What was deleted meanwhile needs no way back. */
function isUnconfirmed(held: AssignedPod): held is Unconfirmed {
  const { handover: turn, deadline, unassigned: gone } = held;
  return turn?.confirmSeconds !== undefined && !turn.revert && deadline === undefined && !gone;
}
