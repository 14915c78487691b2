/** Watches successors of handovers until they are confirmed, and reverts those that fail. */

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
import { type Confirming, openHandoverOf, revertOf } from '../decisions/handovers/handover-record.js';
import { type AssignedPod, isPredecessor, isStopping } from '../decisions/pods/assigned-pod.js';
import type { DesiredCache } from '../desired/desired-cache.js';
import type { HubContact } from '../link/link-delegate.js';

/** Interval of checks whether this process was suspended while a Pod is to be confirmed. */
const BEAT_MS = 5_000;
/** A check that is later than this proves a suspension; smaller delays are normal load. */
const LATE_MS = 1_000;

interface HandoverConfirmationsDeps {
  cache: DesiredCache;
  /** The boot in which this process runs. */
  bootMark: string;
  /** When the engine last returned after an outage, ms; 0: no outage since the agent's start. */
  engineUpSince: () => number;
  /** Called with a Pod whose new state was written to disk. */
  onChanged: (uid: string) => void;
  /** Called with a Pod that reverts to its predecessor. */
  onRevert: (pod: Pod, message: string) => void;
  clock: Clock;
  log: Logger;
}

export class HandoverConfirmations {
  readonly #parts: HandoverConfirmationsDeps;
  readonly #startedAt: number;
  readonly #ready = new Set<string>();
  /** Callbacks of reverts that happened before `start`. */
  readonly #reverted: (() => void)[] = [];
  readonly #deciding = new Set<string>();
  /** When the first ping of this connection was sent on behalf of a Pod. */
  readonly #askedAt = new Map<string, number>();
  readonly #stalls: Stall[] = [];
  /** When the pending timer is due. */
  #dueAt: number | undefined;
  #link: { state: 'live'; hub: HubContact } | (LinkEvidence & { state: 'lost' });
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

  /** Call this before any Pod worker starts: a Pod that makes the host reboot in a loop must not start again. */
  async recordBoot(): Promise<void> {
    const { cache, bootMark, clock, onRevert, log } = this.#parts;
    for (const held of [...cache.all()]) {
      const noted = afterBoot(held, bootMark, clock.now());
      if (noted === held) continue;
      const revert = revertOf(noted);
      const { uid, pod } = held;
      const fields = { uid, pod: refText(pod.metadata), ...openHandoverOf(noted)?.boot };
      log.warn(revert ? { ...fields, reason: revert.reason } : fields, 'host rebooted before confirmation');
      // A read-only disk must not keep the host from running its Pods; the count is in memory.
      await cache
        .put(noted)
        .catch((error: unknown) =>
          log.warn({ uid, err: error }, 'reboot count not stored: the disk takes no writes'),
        );
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

  onLinkUp(hub: HubContact): void {
    this.#askedAt.clear();
    this.#link = { state: 'live', hub };
    this.reconcile();
  }

  /** Called when the link broke or a connection attempt failed, with the reason. */
  onLinkFailed(reason: string): void {
    const since = this.#link.state === 'lost' ? this.#link.since : this.#parts.clock.now();
    this.#link = { state: 'lost', since, lastTry: linkEvidenceOf(reason) };
    this.reconcile();
  }

  /** Called with the Pod's own readiness. */
  onReadiness(uid: string, isReady: boolean): void {
    const held = this.#parts.cache.get(uid);
    if (!held || !openHandoverOf(held)) {
      this.#ready.delete(uid);
      this.#askedAt.delete(uid);
      return;
    }
    if (isReady) this.#ready.add(uid);
    else this.#ready.delete(uid);
    this.reconcile();
  }

  /** Decides on all Pods to be confirmed, and schedules the next check. */
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
    this.#parts.log.warn({ lateMs }, 'agent was suspended: confirmation deadlines are extended');
  }

  /** Returns when time alone may change the decision. */
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
        if (this.#link.state === 'live') this.#link.hub.ping();
      }
      return step.until ?? Number.POSITIVE_INFINITY;
    }
    this.#askedAt.delete(held.uid);
    if (step.kind === 'confirm') this.#keep(afterConfirmation(held), 'turn confirmed');
    else {
      this.#parts.onRevert(held.pod, step.message);
      this.#keep(afterRevertStart(held, step, now), 'handover is being reverted', step);
    }
    return Number.POSITIVE_INFINITY;
  }

  /**
   * Returns when the Pod could start; undefined while it waits for a predecessor. Pods that never had to wait could
   * start at once.
   */
  #startableAt(held: Unconfirmed): number | undefined {
    const waits = [...this.#parts.cache.all()].some((other) => isPredecessor(other, held));
    return waits ? undefined : (held.startableAt ?? held.handover.startedAt);
  }

  #evidence(now: number): LinkEvidence {
    if (this.#link.state === 'lost') return this.#link;
    return { state: 'live', heardAt: now - this.#link.hub.silentMs() };
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
        log.warn({ uid, err: error }, 'result of a handover not stored: a restarted agent decides again');
        onChanged(uid);
      })
      .finally(() => this.#deciding.delete(uid));
  }
}

type Unconfirmed = AssignedPod & { handover: Confirming };

/** Returns true for a Pod that still has to prove itself; a stopping Pod is never reverted. */
function isUnconfirmed(assigned: AssignedPod): assigned is Unconfirmed {
  return assigned.handover?.stage === 'confirming' && !isStopping(assigned);
}
