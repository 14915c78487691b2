/**
 * Carries out the handovers that are annotated on this host's Pods. It waits until a handover may start, writes the
 * successor to disk, and then replaces the Pod. It is level-triggered and survives being killed at any line.
 */
import {
  type HandoverBlockReason,
  type HostHandover,
  WITHDRAWN,
  withdrawnMessage,
} from '../../shared/kube/handovers/host-handover.js';
import { refText } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { FindConfig } from '../decisions/container-spec/config-lookup.js';
import {
  afterHandoverStart,
  hasNoHandover,
  pendingHandover,
  withdrawnSuccessorName,
} from '../decisions/handovers/assigned-pod-handover.js';
import { type HandoverStep, handoverStep } from '../decisions/handovers/handover-step.js';
import { pullSecrets } from '../decisions/images/pull-secrets.js';
import type { Keyring } from '../decisions/images/registry-credentials.js';
import type { AssignedPod } from '../decisions/pods/assigned-pod.js';
import { podImages } from '../decisions/pods/pod-containers.js';
import type { DesiredCache } from '../desired/desired-cache.js';
import type { PrefetchedImages } from '../images/prefetched-images.js';
import type { CoordinatorTime } from './coordinator-time.js';
import type { UpdateLock } from './update-lock.js';

/** Retry delay after an error, usually a full disk. */
const RETRY_MS = 10_000;

/** Why a handover has not started, or that it was withdrawn, for the Pod's status. */
interface HandoverWaiting {
  reason: HandoverBlockReason | typeof WITHDRAWN;
  message: string;
}

/**
 * No controller waits for this acknowledgement: the Pod was orphaned, or a restored coordinator has lost the handover.
 */
const HANDOVER_REMOVED: HandoverWaiting = {
  reason: WITHDRAWN,
  message: 'the handover is no longer on the Pod',
};

interface HandoverRunnerDeps {
  cache: DesiredCache;
  images: Pick<PrefetchedImages, 'prefetchFor' | 'missing'>;
  findConfig: FindConfig;
  updateLock: UpdateLock;
  coordinatorTime: Pick<CoordinatorTime, 'now'>;
  /** The boot in which this process runs. */
  bootMark: string;
  linkIsLive: () => boolean;
  /** Called with the reason why a Pod's handover has not started. */
  onWaiting: (uid: string, waiting: HandoverWaiting) => void;
  /** Called when a started handover is on disk. */
  onStarted: (oldUid: string, successor: AssignedPod) => void;
  /** Called when the host's update lock was overridden. */
  onOverridden: (pod: Pod, message: string) => void;
  clock: Clock;
  log: Logger;
}

/** A handover that has not started. */
interface Pending {
  isChecking: boolean;
  /** True if something changed since the current check began. */
  isOutdated: boolean;
  timer?: Timer;
}

export class HandoverRunner {
  readonly #deps: HandoverRunnerDeps;
  readonly #pending = new Map<string, Pending>();
  /** By Pod uid: name of the withdrawn successor that was acknowledged. */
  readonly #withdrawn = new Map<string, string>();
  /** Retries the write of a withdrawal. */
  #retry: Timer | undefined;
  #isStopped = false;

  constructor(deps: HandoverRunnerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.reconcile();
  }

  stop(): void {
    this.#isStopped = true;
    this.#retry?.cancel();
    for (const uid of [...this.#pending.keys()]) this.#drop(uid);
  }

  /** Checks all handovers again after a change of Pods, time or images. */
  reconcile(): void {
    if (this.#isStopped) return;
    const due = new Set<string>();
    for (const assigned of this.#deps.cache.all()) {
      if (pendingHandover(assigned)) due.add(assigned.uid);
      this.#acknowledgeWithdrawal(assigned);
    }
    for (const uid of [...this.#withdrawn.keys()])
      if (!this.#deps.cache.get(uid)) this.#withdrawn.delete(uid);
    for (const uid of [...this.#pending.keys()]) if (!due.has(uid)) this.#onRemoved(uid);
    for (const uid of due) this.#check(uid);
  }

  #onRemoved(uid: string): void {
    this.#drop(uid);
    const assigned = this.#deps.cache.get(uid);
    if (assigned && hasNoHandover(assigned)) this.#deps.onWaiting(uid, HANDOVER_REMOVED);
  }

  #drop(uid: string): void {
    this.#pending.get(uid)?.timer?.cancel();
    this.#pending.delete(uid);
    this.#deps.images.prefetchFor(ownerOf(uid), [], () => undefined);
  }

  /**
   * Acknowledges a withdrawal only once it is on disk. Otherwise a restarted agent could start the withdrawn handover.
   */
  #acknowledgeWithdrawal(assigned: AssignedPod): void {
    const { cache, onWaiting, clock, log } = this.#deps;
    const { uid } = assigned;
    const name = withdrawnSuccessorName(assigned);
    if (name === undefined || this.#withdrawn.get(uid) === name) return;
    this.#withdrawn.set(uid, name);
    const acknowledge = () => onWaiting(uid, { reason: WITHDRAWN, message: withdrawnMessage(name) });
    cache.flush().then(acknowledge, (error: unknown) => {
      log.warn({ uid, err: error }, 'withdrawal of a handover not stored: acknowledged after a retry');
      this.#withdrawn.delete(uid);
      this.#retry ??= clock.after(RETRY_MS, () => {
        this.#retry = undefined;
        this.reconcile();
      });
    });
  }

  #check(uid: string): void {
    const pending = this.#pending.get(uid) ?? { isChecking: false, isOutdated: false };
    this.#pending.set(uid, pending);
    pending.isOutdated = true;
    if (pending.isChecking) return;
    pending.isChecking = true;
    pending.timer?.cancel();
    void this.#run(uid, pending)
      .catch((error: unknown) => {
        this.#deps.log.warn({ uid, err: error }, 'handover could not be checked; retrying');
        this.#checkAfter(uid, pending, RETRY_MS);
      })
      .finally(() => {
        pending.isChecking = false;
        // A change between the last check and this line would be lost otherwise.
        if (pending.isOutdated && this.#pending.get(uid) === pending) this.#check(uid);
      });
  }

  async #run(uid: string, pending: Pending): Promise<void> {
    while (pending.isOutdated && !this.#isStopped) {
      pending.isOutdated = false;
      const assigned = this.#deps.cache.get(uid);
      const handover = assigned && pendingHandover(assigned);
      if (!assigned || !handover) return;
      const step = await this.#decide(assigned, handover);
      // Decide again after a change during the check: no handover starts from outdated facts.
      if (pending.isOutdated || this.#deps.cache.get(uid) !== assigned) pending.isOutdated = true;
      else if (step.kind === 'begin') await this.#start(assigned, pending, handover, step.overridden);
      else this.#wait(assigned, pending, step);
    }
  }

  async #decide(assigned: AssignedPod, handover: HostHandover): Promise<HandoverStep> {
    const { images, coordinatorTime: time, clock, updateLock } = this.#deps;
    const { uid, pod } = assigned;
    const wanted = podImages(handover.successor);
    const secrets = this.#keyrings(handover.successor);
    images.prefetchFor(
      ownerOf(uid),
      wanted.map((image) => ({ image, secrets })),
      () => this.#check(uid),
    );
    const facts = {
      handover: handover,
      missing: images.missing(ownerOf(uid)),
      lockedSince: assigned.lockedSince,
    };
    const before = handoverStep({
      ...facts,
      coordinatorTimeMs: time.now(),
      updateLock: undefined,
      now: clock.now(),
    });
    if (before.kind === 'wait' || handover.maxLockSeconds === undefined) return before;
    const { namespace = '', name } = pod.metadata;
    const message = await updateLock.ask({ namespace, pod: name, images: wanted });
    const now = clock.now();
    const lockedSince = message && (await this.#lockedSince(assigned, now));
    return handoverStep({
      ...facts,
      lockedSince: lockedSince,
      coordinatorTimeMs: time.now(),
      updateLock: message,
      now,
    });
  }

  /** Stored on disk, so that a restart of the agent does not extend the lock's time limit. */
  async #lockedSince(assigned: AssignedPod, now: number): Promise<number> {
    if (assigned.lockedSince !== undefined) return assigned.lockedSince;
    const { cache } = this.#deps;
    if (cache.get(assigned.uid) === assigned) await cache.put({ ...assigned, lockedSince: now });
    return now;
  }

  #keyrings(pod: Pod): Keyring[] {
    try {
      return pullSecrets(pod, this.#deps.findConfig).rings;
    } catch (error) {
      this.#deps.log.warn({ pod: refText(pod.metadata), err: error }, 'pull secret cannot be used');
      return [];
    }
  }

  #wait(
    assigned: AssignedPod,
    pending: Pending,
    { reason, message, againMs }: HandoverStep & { kind: 'wait' },
  ): void {
    this.#deps.onWaiting(assigned.uid, { reason, message });
    if (againMs !== undefined) this.#checkAfter(assigned.uid, pending, againMs);
  }

  #checkAfter(uid: string, pending: Pending, delayMs: number): void {
    pending.timer?.cancel();
    if (this.#isStopped) return;
    pending.timer = this.#deps.clock.after(delayMs, () => this.#check(uid));
  }

  async #start(
    assigned: AssignedPod,
    pending: Pending,
    handover: HostHandover,
    overridden: string | undefined,
  ): Promise<void> {
    const { cache, clock, log, linkIsLive, bootMark, onStarted: onBegun, onOverridden } = this.#deps;
    const how = { now: clock.now(), linkWasLive: linkIsLive(), bootMark };
    const { old, successor } = afterHandoverStart(assigned, handover, how);
    // Stop nothing before the change is on disk. An agent that dies now, or whose disk is full, finds the Pod
    // unchanged.
    if (!(await cache.replaceDurably(assigned, old, successor))) {
      pending.isOutdated = true;
      return;
    }
    if (overridden !== undefined) onOverridden(assigned.pod, overridden);
    log.info(
      { uid: assigned.uid, pod: refText(assigned.pod.metadata), successor: successor.uid },
      'handover started',
    );
    this.#pending.delete(assigned.uid);
    onBegun(assigned.uid, successor);
    this.#deps.images.prefetchFor(ownerOf(assigned.uid), [], () => undefined);
  }
}

function ownerOf(uid: string): string {
  return `handover ${uid}`;
}
