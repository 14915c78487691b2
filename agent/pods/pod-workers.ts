/** One worker per Pod uid. Containers that already run are adopted: their worker finds them by their labels. */

import {
  type ConfigReference,
  configKey,
  configReferences,
} from '../../shared/kube/pods/config-reference.js';
import { type HostPort, hostPorts } from '../../shared/kube/pods/host-ports.js';
import { DEFAULT_GRACE_SECONDS } from '../../shared/kube/pods/pod-defaults.js';
import type { Rejection } from '../decisions/admission/pod-admission.js';
import {
  type AssignedPod,
  afterUnassign,
  controllerUidOf,
  isPredecessor,
  isUnknownToHub,
  keepsPortFrom,
  podFromOrphanedContainers,
} from '../decisions/pods/assigned-pod.js';
import { runsForController } from '../decisions/pods/orphaned-containers.js';
import { DEADLINE_EXCEEDED } from '../decisions/pods/pod-completion.js';
import type { PodEvent } from '../decisions/pods/pod-status-events.js';
import type { PodTermination } from '../decisions/pods/pod-view.js';
import type { RuntimeEvent } from '../runtime/runtime-driver.js';
import { OrphanedPods } from './orphaned-pods.js';
import { PodWorker } from './pod-worker.js';
import type { PodSource, PodWorkerDeps } from './pod-worker-deps.js';

/** Why a Pod is given up, and how long its containers have to end. */
interface PodTerminationRequest extends Omit<PodTermination, 'deadline'> {
  graceSeconds: number;
}

export class PodWorkers {
  readonly #source: PodSource;
  readonly #host: PodWorkerDeps;
  readonly #workers = new Map<string, PodWorker>();
  readonly #leftovers: OrphanedPods;
  /** That the engine has told of them in this life of the agent. */
  #firstLook: Promise<void> | undefined;

  constructor(source: PodSource, host: PodWorkerDeps) {
    this.#source = source;
    this.#host = host;
    this.#leftovers = new OrphanedPods(host.driver);
  }

  /** Starts a worker for each Pod that is held already. */
  start(): void {
    for (const held of this.#source.all()) this.#assign(held);
  }

  /** The Pods of these uids changed in the source; those in `gone` are to end even if only the engine knows them. */
  update(set: readonly string[], gone: readonly string[]): void {
    const unknown = this.#leftovers.size;
    const ours = set.filter((uid) => this.#isOnlyOurs(uid));
    for (const uid of set) {
      this.#leftovers.take(uid);
      const held = this.#source.get(uid);
      if (held) this.#assign(held);
    }
    for (const uid of gone) {
      const held = this.#source.get(uid) ?? this.#leavingLeftover(uid);
      if (held) this.#assign(held);
    }
    // Whoever waited for one of them has its answer.
    if (this.#leftovers.size < unknown || !ours.every((uid) => this.#isOnlyOurs(uid))) this.#lookAgain();
  }

  /** Gives the Pod up for good and says so by the event. One that is over, or leaves anyway, stays as it is. */
  terminate(uid: string, { graceSeconds, ...why }: PodTerminationRequest, event: PodEvent): void {
    const before = this.#source.get(uid);
    if (!before || before.terminal || before.deadline !== undefined) return;
    const deadline = this.#host.clock.now() + graceSeconds * 1000;
    const held = this.#source.terminate(uid, { ...why, deadline });
    if (!held) return;
    this.#workers.get(uid)?.emitEvent(event);
    this.#assign(held);
  }

  /** The engine has something of the Pod, as far as its worker has looked. */
  hasContainers(uid: string): boolean {
    return this.#workers.get(uid)?.hasContainers ?? false;
  }

  /** Tells of the Pod what others decided. */
  emitEvent(uid: string, event: PodEvent): void {
    this.#workers.get(uid)?.emitEvent(event);
  }

  /** Says why the turn to replace the Pod has not begun. */
  setHandoverWaiting(uid: string, waiting: { reason: string; message: string }): void {
    this.#workers.get(uid)?.setHandoverWaiting(waiting);
  }

  /** These ConfigMaps and Secrets are there, others or gone: the Pods that name them look again. */
  onConfigChanged(changed: readonly ConfigReference[]): void {
    if (changed.length === 0) return;
    const keys = new Set(changed.map(configKey));
    for (const worker of this.#workers.values()) {
      const names = configReferences(worker.held.pod);
      if (names.some((reference) => keys.has(configKey(reference)))) worker.onConfigChanged();
    }
  }

  /** The coordinator says what time it is, ms: Pods whose tokens are not good then get others. */
  onCoordinatorTime(hubTimeMs: number): void {
    for (const uid of this.#host.tokens?.podsWithInvalidTokensAt(hubTimeMs) ?? [])
      this.#workers.get(uid)?.onConfigChanged();
  }

  /** Looks again at the Pod that the engine names, or at all. */
  async onRuntimeEvent(event: RuntimeEvent): Promise<void> {
    switch (event.kind) {
      case 'container': {
        const worker = this.#workers.get(event.podUid);
        if (worker) worker.requestReconcile();
        else if (this.#leftovers.needsRefreshFor(event.podUid)) await this.#findAndLook();
        return;
      }
      case 'resync':
        await this.#findAndLook();
        return;
      case 'down':
        // Nothing can be seen or done until `resync`.
        return;
    }
  }

  async #findAndLook(): Promise<void> {
    await this.findOrphans();
    this.#lookAgain();
  }

  #lookAgain(): void {
    for (const worker of this.#workers.values()) worker.requestReconcile();
  }

  /** Looks for Pods that only the engine knows. */
  async findOrphans(): Promise<void> {
    const isKnown = (uid: string): boolean => this.#source.get(uid) !== undefined || this.#workers.has(uid);
    await this.#leftovers.find(isKnown);
    const uids = this.orphanedUids();
    if (uids.length > 0) {
      this.#host.log.info({ uids }, 'containers of unknown pods; the coordinator decides');
      this.#host.reports.putUnknownUids(uids);
    }
    await this.#sweep((uid) => isKnown(uid) || this.#leftovers.has(uid));
  }

  /** One that fails is tried again by who asks again. */
  #leftoversKnown(): Promise<void> {
    this.#firstLook ??= this.findOrphans().catch((error: unknown) => {
      this.#firstLook = undefined;
      throw error;
    });
    return this.#firstLook;
  }

  /** Folders of Pods without containers that nobody knows: an agent that died between two steps left them. */
  async #sweep(isKnown: (uid: string) => boolean): Promise<void> {
    const { volumes, log } = this.#host;
    try {
      const uids = await volumes.sweep(isKnown);
      if (uids.length > 0) log.info({ uids }, 'folders of unknown pods removed');
    } catch (error) {
      // Such as files of a rootless engine's users. What the engine told matters more.
      log.warn({ err: error }, 'folders of unknown pods cannot be removed');
    }
  }

  /** Says anew which Pods have been ended and are held still: a coordinator that was restored has forgotten that it heard so. */
  resendRemoved(): void {
    for (const worker of this.#workers.values()) worker.resendRemoved();
  }

  /** Uids that only the engine knows, for the link's hello. */
  orphanedUids(): string[] {
    return this.#leftovers.uids();
  }

  #isOnlyOurs(uid: string): boolean {
    const worker = this.#workers.get(uid);
    return worker !== undefined && isUnknownToHub(worker.held);
  }

  /** Ends all workers and touches no container. */
  async stop(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
    this.#workers.clear();
  }

  #assign(held: AssignedPod): void {
    const present = this.#workers.get(held.uid);
    if (present) {
      present.assign(held);
      return;
    }
    const worker = new PodWorker(held, this.#host, {
      orphansKnown: () => this.#leftoversKnown(),
      hasPredecessor: (own) => this.#hasPredecessor(own),
      hostPortsInUse: (own) => this.#takenPorts(own),
      onFinished: (own) => this.#onFinished(own),
      onRejected: (own, rejection) => this.#reject(own, rejection),
      onDeadline: (own) => this.#exceedDeadline(own),
    });
    this.#workers.set(held.uid, worker);
    worker.requestReconcile();
  }

  /** As a kubelet's rejectPod. */
  #reject({ uid }: AssignedPod, { reason, message }: Rejection): void {
    const givenUp = { reason, message: `Pod was rejected: ${message}`, graceSeconds: 0 };
    this.terminate(uid, givenUp, { type: 'Warning', reason, message });
  }

  #exceedDeadline({ uid, pod }: AssignedPod): void {
    const graceSeconds = pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
    this.terminate(uid, { ...DEADLINE_EXCEEDED, graceSeconds }, { type: 'Normal', ...DEADLINE_EXCEEDED });
  }

  #leavingLeftover(uid: string): AssignedPod | undefined {
    const now = this.#host.clock.now();
    const held = podFromOrphanedContainers(this.#leftovers.take(uid), now);
    return held && afterUnassign(held, now);
  }

  #takenPorts(held: AssignedPod): HostPort[] {
    const others = [...this.#workers.values()].filter((worker) => !worker.isFinished);
    return others.flatMap(({ held: other }) => (keepsPortFrom(other, held) ? hostPorts(other.pod.spec) : []));
  }

  #hasPredecessor(held: AssignedPod): boolean {
    if (runsForController(this.#leftovers.containers(), controllerUidOf(held))) return true;
    const all = [...this.#workers.values()];
    return all.some((worker) => isPredecessor(this.#source.get(worker.held.uid) ?? worker.held, held));
  }

  /**
   * A deleted Pod stays held until the hub lets go of it, which may take as long as the link is cut: whoever wants its place or its
   * ports learns that it has ended. One that is `gone` is forgotten now.
   */
  #onFinished(held: AssignedPod): void {
    const worker = this.#workers.get(held.uid);
    if (worker?.held !== held) return;
    if (held.deadline === undefined) {
      void this.#goBack(held.uid, worker);
      return;
    }
    const leavesPorts = !held.unassigned && hostPorts(held.pod.spec).length > 0;
    const isKnown = this.#source.get(held.uid)?.containersRemoved === true;
    if ((held.replacedBy !== undefined || leavesPorts) && !isKnown)
      this.#source.markContainersRemoved(held.uid);
    if (held.unassigned) {
      this.#workers.delete(held.uid);
      this.#source.forget(held);
      this.#leftovers.ended(held.uid);
      void worker.stop();
    }
    for (const other of this.#workers.values()) {
      if (other.held.uid !== held.replacedBy && !isPredecessor(held, other.held)) continue;
      other.assign(this.#source.get(other.held.uid) ?? other.held);
      other.requestReconcile();
    }
  }

  /** A new worker runs what the predecessor ran: this one knows the Pod by what it had. */
  async #goBack(uid: string, worker: PodWorker): Promise<void> {
    await worker.stop();
    const held = await this.#source.markRevertCleared(uid);
    if (this.#workers.get(uid) !== worker) return;
    this.#workers.delete(uid);
    if (held) this.#assign(held);
  }
}
