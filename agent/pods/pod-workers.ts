/** One worker per Pod uid. Running containers are adopted by their labels. */

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
  hasRemovedContainers,
  isPredecessor,
  isStopping,
  isUnassigned,
  isUnknownToHub,
  keepsPortFrom,
  podFromOrphanedContainers,
  successorUidOf,
} from '../decisions/pods/assigned-pod.js';
import { runsForController } from '../decisions/pods/orphaned-containers.js';
import { DEADLINE_EXCEEDED } from '../decisions/pods/pod-completion.js';
import type { PodEvent } from '../decisions/pods/pod-status-events.js';
import type { PodTermination } from '../decisions/pods/pod-view.js';
import type { RuntimeEvent } from '../runtime/runtime-driver.js';
import { OrphanedPods } from './orphaned-pods.js';
import { PodWorker } from './pod-worker.js';
import type { PodSource, PodWorkerDeps } from './pod-worker-deps.js';

/** Why the host ends a Pod, and how long its containers have to exit. */
interface PodTerminationRequest extends Omit<PodTermination, 'deadline'> {
  graceSeconds: number;
}

export class PodWorkers {
  readonly #source: PodSource;
  readonly #host: PodWorkerDeps;
  readonly #workers = new Map<string, PodWorker>();
  readonly #leftovers: OrphanedPods;
  /** The first query for orphaned Pods since the agent's start. */
  #firstLook: Promise<void> | undefined;

  constructor(source: PodSource, host: PodWorkerDeps) {
    this.#source = source;
    this.#host = host;
    this.#leftovers = new OrphanedPods(host.driver);
  }

  /** Starts a worker for each Pod that is already assigned. */
  start(): void {
    for (const held of this.#source.all()) this.#assign(held);
  }

  /** Applies changes of the source. Pods in `gone` stop even if only the engine knows them. */
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
    // Pods that waited for an orphan, or for the hub's answer, may start now.
    if (this.#leftovers.size < unknown || !ours.every((uid) => this.#isOnlyOurs(uid))) this.#lookAgain();
  }

  /** Ends the Pod permanently and emits the Event. A Pod that has ended or is stopping stays unchanged. */
  terminate(uid: string, { graceSeconds, ...why }: PodTerminationRequest, event: PodEvent): void {
    const before = this.#source.get(uid);
    if (!before || before.terminal || isStopping(before)) return;
    const deadline = this.#host.clock.now() + graceSeconds * 1000;
    const held = this.#source.terminate(uid, { ...why, deadline });
    if (!held) return;
    this.#workers.get(uid)?.emitEvent(event);
    this.#assign(held);
  }

  /** Returns true if the worker's last inspection showed any container of the Pod. */
  hasContainers(uid: string): boolean {
    return this.#workers.get(uid)?.hasContainers ?? false;
  }

  emitEvent(uid: string, event: PodEvent): void {
    this.#workers.get(uid)?.emitEvent(event);
  }

  /** Sets the reason why the Pod's handover has not started. */
  setHandoverWaiting(uid: string, waiting: { reason: string; message: string }): void {
    this.#workers.get(uid)?.setHandoverWaiting(waiting);
  }

  /** Reconciles the Pods that name one of these added, changed or removed ConfigMaps and Secrets. */
  onConfigChanged(changed: readonly ConfigReference[]): void {
    if (changed.length === 0) return;
    const keys = new Set(changed.map(configKey));
    for (const worker of this.#workers.values()) {
      const names = configReferences(worker.held.pod);
      if (names.some((reference) => keys.has(configKey(reference)))) worker.onConfigChanged();
    }
  }

  /** Renews tokens that are not valid at the coordinator's time, ms. */
  onCoordinatorTime(hubTimeMs: number): void {
    for (const uid of this.#host.tokens?.podsWithInvalidTokensAt(hubTimeMs) ?? [])
      this.#workers.get(uid)?.onConfigChanged();
  }

  /** Inspects the Pod that the engine's event names, or all Pods after a resync. */
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
        // Nothing can be inspected before the next `resync`.
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

  /** Queries the engine for Pods that only it knows, and reports them. */
  async findOrphans(): Promise<void> {
    const isKnown = (uid: string): boolean => this.#source.get(uid) !== undefined || this.#workers.has(uid);
    await this.#leftovers.find(isKnown);
    const uids = this.orphanedUids();
    if (uids.length > 0) {
      this.#host.log.info({ uids }, 'containers of unknown Pods found; the coordinator decides about them');
      this.#host.reports.putUnknownUids(uids);
    }
    await this.#sweep((uid) => isKnown(uid) || this.#leftovers.has(uid));
  }

  /** After a failure the next caller queries again. */
  #leftoversKnown(): Promise<void> {
    this.#firstLook ??= this.findOrphans().catch((error: unknown) => {
      this.#firstLook = undefined;
      throw error;
    });
    return this.#firstLook;
  }

  /** Removes folders of unknown Pods without containers, which an agent left that died between two steps. */
  async #sweep(isKnown: (uid: string) => boolean): Promise<void> {
    const { volumes, log } = this.#host;
    try {
      const uids = await volumes.sweep(isKnown);
      if (uids.length > 0) log.info({ uids }, 'folders of unknown Pods removed');
    } catch (error) {
      // For example files of a rootless engine's users. Reporting the engine's state is more important.
      log.warn({ err: error }, 'folders of unknown Pods cannot be removed');
    }
  }

  /** Reports again which Pods have ended but are still assigned: a restored coordinator has lost these reports. */
  resendRemoved(): void {
    for (const worker of this.#workers.values()) worker.resendRemoved();
  }

  /** Returns uids that only the engine knows, for the link's hello. */
  orphanedUids(): string[] {
    return this.#leftovers.uids();
  }

  #isOnlyOurs(uid: string): boolean {
    const worker = this.#workers.get(uid);
    return worker !== undefined && isUnknownToHub(worker.held);
  }

  /** Stops all workers but none of the containers. */
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

  /** Like the kubelet's rejectPod. */
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
   * A deleted Pod stays assigned until the hub unassigns it, which takes as long as the link is down. Pods that wait
   * for its place or its ports must learn of its end now. An unassigned Pod is forgotten at once.
   */
  #onFinished(held: AssignedPod): void {
    const worker = this.#workers.get(held.uid);
    if (worker?.held !== held) return;
    if (!isStopping(held)) {
      void this.#goBack(held.uid, worker);
      return;
    }
    const leavesPorts = !isUnassigned(held) && hostPorts(held.pod.spec).length > 0;
    const current = this.#source.get(held.uid);
    const isKnown = current !== undefined && hasRemovedContainers(current);
    if ((successorUidOf(held) !== undefined || leavesPorts) && !isKnown)
      this.#source.markContainersRemoved(held.uid, (uid) => this.hasContainers(uid));
    if (isUnassigned(held)) {
      this.#workers.delete(held.uid);
      this.#source.forget(held, (uid) => this.hasContainers(uid));
      this.#leftovers.ended(held.uid);
      void worker.stop();
    }
    for (const other of this.#workers.values()) {
      if (other.held.uid !== successorUidOf(held) && !isPredecessor(held, other.held)) continue;
      other.assign(this.#source.get(other.held.uid) ?? other.held);
      other.requestReconcile();
    }
  }

  /** Replaces the worker: its state describes the containers of the reverted revision. */
  async #goBack(uid: string, worker: PodWorker): Promise<void> {
    await worker.stop();
    const held = await this.#source.markRevertCleared(uid);
    if (this.#workers.get(uid) !== worker) return;
    this.#workers.delete(uid);
    if (held) this.#assign(held);
  }
}
