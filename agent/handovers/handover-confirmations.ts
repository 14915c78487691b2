/** Watches successors of handovers until they are confirmed, and reverts failed ones. */

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
  type Suspension,
} from '../decisions/handovers/confirmation-step.js';
import { type Confirming, openHandoverOf, revertOf } from '../decisions/handovers/handover-record.js';
import { type AssignedPod, isStopping } from '../decisions/pods/assigned-pod.js';
import { isPredecessor } from '../decisions/pods/pod-predecessors.js';
import type { DesiredCache } from '../desired/desired-cache.js';

/** Interval of checks whether this process was suspended while a Pod awaits confirmation. */
const SUSPENSION_CHECK_MS = 5_000;
/** A check that is later than this proves a suspension; smaller delays are normal load. */
const SUSPENSION_TOLERANCE_MS = 1_000;

interface HandoverConfirmationsDeps {
  cache: DesiredCache;
  /** The boot in which this process runs. */
  bootMark: string;
  /** When the engine last returned after an outage, ms; 0: no outage since the agent's start. */
  engineUpSince: () => number;
  /** Called after a Pod's new state was written to disk. */
  onChanged: (uid: string) => void;
  /** Called with a Pod that reverts to its predecessor. */
  onRevert: (pod: Pod, message: string) => void;
  clock: Clock;
  log: Logger;
}

/** The hub at the other end of a live link. */
interface Hub {
  /** Returns the time since the last bytes from the hub, ms. */
  silentMs(): number;
  /** Sends a ping at once, so that a reachable hub responds soon. */
  ping(): void;
}

export class HandoverConfirmations {
  readonly #deps: HandoverConfirmationsDeps;
  readonly #startedAt: number;
  readonly #ready = new Set<string>();
  /** Callbacks of reverts that happened before `start`. */
  readonly #reverted: (() => void)[] = [];
  readonly #storing = new Set<string>();
  /** When the first ping of this connection was sent on behalf of a Pod. */
  readonly #pingedAt = new Map<string, number>();
  readonly #suspensions: Suspension[] = [];
  /** When the pending timer is due. */
  #dueAt: number | undefined;
  #link: { state: 'live'; hub: Hub } | (LinkEvidence & { state: 'lost' });
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(deps: HandoverConfirmationsDeps) {
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
    this.#link = { state: 'lost', since: this.#startedAt, lastTry: 'unreachable' };
  }

  get linkIsLive(): boolean {
    return this.#link.state === 'live';
  }

  /** Call this before any Pod worker starts: a Pod that makes the host reboot in a loop must not start again. */
  async recordBoot(): Promise<void> {
    const { cache, bootMark, clock, onRevert, log } = this.#deps;
    for (const assigned of [...cache.all()]) {
      const noted = afterBoot(assigned, bootMark, clock.now());
      if (noted === assigned) continue;
      const revert = revertOf(noted);
      const { uid, pod } = assigned;
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
    for (const callback of this.#reverted.splice(0)) callback();
    this.reconcile();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  onLinkUp(hub: Hub): void {
    this.#pingedAt.clear();
    this.#link = { state: 'live', hub };
    this.reconcile();
  }

  /** Called when the link broke, or when no address could be connected, with the reasons. */
  onLinkFailed(reasons: readonly string[]): void {
    const since = this.#link.state === 'lost' ? this.#link.since : this.#deps.clock.now();
    this.#link = { state: 'lost', since, lastTry: linkEvidenceOf(reasons) };
    this.reconcile();
  }

  /** Called with the Pod's own readiness. */
  onReadiness(uid: string, isReady: boolean): void {
    const assigned = this.#deps.cache.get(uid);
    if (!assigned || !openHandoverOf(assigned)) {
      this.#ready.delete(uid);
      this.#pingedAt.delete(uid);
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
    this.#recordSuspension();
    let next = Number.POSITIVE_INFINITY;
    for (const assigned of this.#deps.cache.all()) {
      if (isUnconfirmed(assigned)) next = Math.min(next, this.#decide(assigned));
    }
    const { clock } = this.#deps;
    const now = clock.now();
    const isAnyUnconfirmed = [...this.#deps.cache.all()].some(isUnconfirmed);
    if (!isAnyUnconfirmed) {
      this.#suspensions.length = 0;
      this.#dueAt = undefined;
      return;
    }
    this.#dueAt = Math.min(Math.max(next, now), now + SUSPENSION_CHECK_MS);
    this.#timer = clock.after(this.#dueAt - now, () => this.reconcile());
  }

  #recordSuspension(): void {
    const now = this.#deps.clock.now();
    const lateMs = now - (this.#dueAt ?? now);
    this.#dueAt = undefined;
    if (lateMs <= SUSPENSION_TOLERANCE_MS) return;
    this.#suspensions.push({ until: now, ms: lateMs });
    this.#deps.log.warn({ lateMs }, 'agent was suspended: confirmation deadlines are extended');
  }

  /** Returns when time alone may change the decision. */
  #decide(assigned: Unconfirmed): number {
    const { clock, engineUpSince } = this.#deps;
    const now = clock.now();
    const step = confirmationStep({
      handover: assigned.handover,
      startableAt: this.#startableAt(assigned),
      isReady: this.#ready.has(assigned.uid),
      link: this.#evidence(now),
      suspensions: this.#suspensions,
      upSince: Math.max(this.#startedAt, engineUpSince()),
      pingedAt: this.#pingedAt.get(assigned.uid),
      now,
    });
    if (step.kind === 'wait') {
      if (step.pingedAt !== undefined) {
        this.#pingedAt.set(assigned.uid, step.pingedAt);
        if (this.#link.state === 'live') this.#link.hub.ping();
      }
      return step.until ?? Number.POSITIVE_INFINITY;
    }
    this.#pingedAt.delete(assigned.uid);
    if (step.kind === 'confirm') this.#store(afterConfirmation(assigned), 'handover confirmed');
    else {
      this.#deps.onRevert(assigned.pod, step.message);
      this.#store(afterRevertStart(assigned, step, now), 'handover is being reverted', step);
    }
    return Number.POSITIVE_INFINITY;
  }

  /**
   * Returns when the Pod could start; undefined while it waits for a predecessor. Pods that never had to wait could
   * start at once.
   */
  #startableAt(assigned: Unconfirmed): number | undefined {
    const waits = [...this.#deps.cache.all()].some((other) => isPredecessor(other, assigned));
    return waits ? undefined : (assigned.startableAt ?? assigned.handover.startedAt);
  }

  #evidence(now: number): LinkEvidence {
    if (this.#link.state === 'lost') return this.#link;
    return { state: 'live', heardAt: now - this.#link.hub.silentMs() };
  }

  #store(assigned: AssignedPod, message: string, why: object = {}): void {
    const { cache, log, onChanged } = this.#deps;
    const { uid, pod } = assigned;
    if (this.#storing.has(uid)) return;
    this.#storing.add(uid);
    log.info({ uid, pod: refText(pod.metadata), ...why }, message);
    cache
      .put(assigned)
      .then(() => onChanged(uid))
      .catch((error: unknown) => {
        log.warn({ uid, err: error }, 'result of a handover not stored: a restarted agent decides again');
        onChanged(uid);
      })
      .finally(() => this.#storing.delete(uid));
  }
}

type Unconfirmed = AssignedPod & { handover: Confirming };

/** Returns true for a Pod that still has to prove itself; a stopping Pod is never reverted. */
function isUnconfirmed(assigned: AssignedPod): assigned is Unconfirmed {
  return assigned.handover?.stage === 'confirming' && !isStopping(assigned);
}
