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
  looking: boolean;
  /** True if something changed since the current check began. */
  isOutdated: boolean;
  timer?: Timer;
}

export class HandoverRunner {
  readonly #parts: HandoverRunnerDeps;
  readonly #pending = new Map<string, Pending>();
  /** By Pod uid: name of the successor whose withdrawal was acknowledged. */
  readonly #withdrawn = new Map<string, string>();
  /** Retries the write of a withdrawal. */
  #retry: Timer | undefined;
  #isStopped = false;

  constructor(parts: HandoverRunnerDeps) {
    this.#parts = parts;
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
    for (const held of this.#parts.cache.all()) {
      if (pendingHandover(held)) due.add(held.uid);
      this.#noteWithdrawal(held);
    }
    for (const uid of [...this.#withdrawn.keys()])
      if (!this.#parts.cache.get(uid)) this.#withdrawn.delete(uid);
    for (const uid of [...this.#pending.keys()]) if (!due.has(uid)) this.#lost(uid);
    for (const uid of due) this.#lookAt(uid);
  }

  #lost(uid: string): void {
    this.#drop(uid);
    const held = this.#parts.cache.get(uid);
    if (held && hasNoHandover(held)) this.#parts.onWaiting(uid, HANDOVER_REMOVED);
  }

  #drop(uid: string): void {
    this.#pending.get(uid)?.timer?.cancel();
    this.#pending.delete(uid);
    this.#parts.images.prefetchFor(ownerOf(uid), [], () => undefined);
  }

  /**
   * Acknowledges a withdrawal only once it is on disk. Otherwise a restarted agent could start the withdrawn handover.
   */
  #noteWithdrawal(held: AssignedPod): void {
    const { cache, onWaiting, clock, log } = this.#parts;
    const { uid } = held;
    const name = withdrawnSuccessorName(held);
    if (name === undefined || this.#withdrawn.get(uid) === name) return;
    this.#withdrawn.set(uid, name);
    const say = () => onWaiting(uid, { reason: WITHDRAWN, message: withdrawnMessage(name) });
    cache.flush().then(say, (error: unknown) => {
      log.warn({ uid, err: error }, 'withdrawal of a handover not stored: acknowledged after a retry');
      this.#withdrawn.delete(uid);
      this.#retry ??= clock.after(RETRY_MS, () => {
        this.#retry = undefined;
        this.reconcile();
      });
    });
  }

  #lookAt(uid: string): void {
    const pending = this.#pending.get(uid) ?? { looking: false, isOutdated: false };
    this.#pending.set(uid, pending);
    pending.isOutdated = true;
    if (pending.looking) return;
    pending.looking = true;
    pending.timer?.cancel();
    void this.#run(uid, pending)
      .catch((error: unknown) => {
        this.#parts.log.warn({ uid, err: error }, 'handover could not be checked; retrying');
        this.#again(uid, pending, RETRY_MS);
      })
      .finally(() => {
        pending.looking = false;
        // A change between the last check and this line would be lost otherwise.
        if (pending.isOutdated && this.#pending.get(uid) === pending) this.#lookAt(uid);
      });
  }

  async #run(uid: string, pending: Pending): Promise<void> {
    while (pending.isOutdated && !this.#isStopped) {
      pending.isOutdated = false;
      const held = this.#parts.cache.get(uid);
      const turn = held && pendingHandover(held);
      if (!held || !turn) return;
      const step = await this.#decide(held, turn);
      // Decide again after a change during the check: no handover starts from outdated facts.
      if (pending.isOutdated || this.#parts.cache.get(uid) !== held) pending.isOutdated = true;
      else if (step.kind === 'begin') await this.#begin(held, pending, turn, step.overridden);
      else this.#wait(held, pending, step);
    }
  }

  async #decide(held: AssignedPod, turn: HostHandover): Promise<HandoverStep> {
    const { images, coordinatorTime: time, clock, updateLock: hold } = this.#parts;
    const { uid, pod } = held;
    const wanted = podImages(turn.successor);
    const secrets = this.#keyrings(turn.successor);
    images.prefetchFor(
      ownerOf(uid),
      wanted.map((image) => ({ image, secrets })),
      () => this.#lookAt(uid),
    );
    const facts = { handover: turn, missing: images.missing(ownerOf(uid)), lockedSince: held.lockedSince };
    const before = handoverStep({
      ...facts,
      coordinatorTimeMs: time.now(),
      updateLock: undefined,
      now: clock.now(),
    });
    if (before.kind === 'wait' || turn.maxLockSeconds === undefined) return before;
    const { namespace = '', name } = pod.metadata;
    const said = await hold.ask({ namespace, pod: name, images: wanted });
    const now = clock.now();
    const lockedSince = said && (await this.#lockedSince(held, now));
    return handoverStep({
      ...facts,
      lockedSince: lockedSince,
      coordinatorTimeMs: time.now(),
      updateLock: said,
      now,
    });
  }

  /** Stored on disk, so that a restart of the agent does not extend the lock's time limit. */
  async #lockedSince(held: AssignedPod, now: number): Promise<number> {
    if (held.lockedSince !== undefined) return held.lockedSince;
    const { cache } = this.#parts;
    if (cache.get(held.uid) === held) await cache.put({ ...held, lockedSince: now });
    return now;
  }

  #keyrings(pod: Pod): Keyring[] {
    try {
      return pullSecrets(pod, this.#parts.findConfig).rings;
    } catch (error) {
      this.#parts.log.warn({ pod: refText(pod.metadata), err: error }, 'pull secret cannot be used');
      return [];
    }
  }

  #wait(
    held: AssignedPod,
    pending: Pending,
    { reason, message, againMs }: HandoverStep & { kind: 'wait' },
  ): void {
    this.#parts.onWaiting(held.uid, { reason, message });
    if (againMs !== undefined) this.#again(held.uid, pending, againMs);
  }

  #again(uid: string, pending: Pending, delayMs: number): void {
    pending.timer?.cancel();
    if (this.#isStopped) return;
    pending.timer = this.#parts.clock.after(delayMs, () => this.#lookAt(uid));
  }

  async #begin(
    held: AssignedPod,
    pending: Pending,
    turn: HostHandover,
    overridden: string | undefined,
  ): Promise<void> {
    const { cache, clock, log, linkIsLive, bootMark, onStarted: onBegun, onOverridden } = this.#parts;
    const how = { now: clock.now(), linkWasLive: linkIsLive(), bootMark };
    const { old, successor } = afterHandoverStart(held, turn, how);
    // Stop nothing before the change is on disk. An agent that dies now, or whose disk is full, finds the Pod
    // unchanged.
    if (!(await cache.replaceDurably(held, old, successor))) {
      pending.isOutdated = true;
      return;
    }
    if (overridden !== undefined) onOverridden(held.pod, overridden);
    log.info({ uid: held.uid, pod: refText(held.pod.metadata), successor: successor.uid }, 'turn begun');
    this.#pending.delete(held.uid);
    onBegun(held.uid, successor);
    this.#parts.images.prefetchFor(ownerOf(held.uid), [], () => undefined);
  }
}

function ownerOf(uid: string): string {
  return `turn ${uid}`;
}
