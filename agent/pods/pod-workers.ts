/** One worker per Pod uid. Running containers are adopted by their labels. */

import { REPLACED, startRulesOf } from '../../shared/kube/daemonjobs/daemonjob-start.js';
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
  isStopping,
  isUnassigned,
  isUnknownToHub,
  podFromOrphanedContainers,
  successorUidOf,
} from '../decisions/pods/assigned-pod.js';
import { runsForController } from '../decisions/pods/orphaned-containers.js';
import { DEADLINE_EXCEEDED } from '../decisions/pods/pod-completion.js';
import { podImages } from '../decisions/pods/pod-containers.js';
import { isPredecessor, keepsPortFrom } from '../decisions/pods/pod-predecessors.js';
import type { PodEvent } from '../decisions/pods/pod-status-events.js';
import type { PodTermination } from '../decisions/pods/pod-view.js';
import { type DelayingLock, type StartGate, startGate } from '../decisions/pods/start-gate.js';
import type { RuntimeEvent } from '../runtime/runtime-driver.js';
import { HostResources } from './host-resources.js';
import { OrphanedPods } from './orphaned-pods.js';
import { PodWorker } from './pod-worker.js';
import type { PodSource, PodWorkerDeps } from './pod-worker-deps.js';
import { seriesPods } from './series-pods.js';

/** Why the host ends a Pod, and how long its containers have to exit. */
interface PodTerminationRequest extends Omit<PodTermination, 'deadline'> {
  graceSeconds: number;
}

export class PodWorkers {
  readonly #source: PodSource;
  readonly #deps: PodWorkerDeps;
  readonly #workers = new Map<string, PodWorker>();
  readonly #orphans: OrphanedPods;
  readonly #resources: HostResources;
  /** True once the Node was deleted: the coordinator decides about no orphan any more. */
  #stopsOrphans = false;
  /** The first query for orphaned Pods since the agent's start. */
  #firstQuery: Promise<void> | undefined;

  constructor(source: PodSource, deps: PodWorkerDeps) {
    this.#source = source;
    this.#deps = deps;
    this.#orphans = new OrphanedPods(deps.driver);
    this.#resources = new HostResources(source, deps, this.#workers, (ended) => this.#assign(ended));
  }

  /** Starts a worker for each Pod that is already assigned. */
  start(): void {
    for (const assigned of this.#source.all()) this.#assign(assigned);
  }

  /** Applies changes of the source. Pods in `gone` stop even if only the engine knows them. */
  update(set: readonly string[], gone: readonly string[]): void {
    const unknown = this.#orphans.size;
    const unknownToHub = set.filter((uid) => this.#isUnknownToHub(uid));
    for (const uid of set) {
      this.#orphans.take(uid);
      const assigned = this.#source.get(uid);
      if (assigned) this.#assign(assigned);
    }
    for (const uid of gone) {
      const assigned = this.#source.get(uid) ?? this.#stoppingOrphan(uid);
      if (assigned) this.#assign(assigned);
    }
    // Pods that waited for an orphan, or for the hub's answer, may start now.
    if (this.#orphans.size < unknown || !unknownToHub.every((uid) => this.#isUnknownToHub(uid)))
      this.#requestReconcile();
  }

  /**
   * Stops the Pods that only the engine knows, now and at each later query. After the deletion of the Node no
   * coordinator decides about them, and a stopped engine may list them only later.
   */
  stopOrphans(): void {
    this.#stopsOrphans = true;
    this.update([], this.orphanedUids());
  }

  /** Ends the Pod permanently and emits the Event. A Pod that has ended or is stopping stays unchanged. */
  terminate(uid: string, { graceSeconds, ...why }: PodTerminationRequest, event: PodEvent): void {
    const before = this.#source.get(uid);
    if (!before || before.terminal || isStopping(before)) return;
    const deadline = this.#deps.clock.now() + graceSeconds * 1000;
    const assigned = this.#source.terminate(uid, { ...why, deadline });
    if (!assigned) return;
    this.#workers.get(uid)?.emitEvent(event);
    this.#assign(assigned);
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
      const names = configReferences(worker.assigned.pod);
      if (names.some((reference) => keys.has(configKey(reference)))) worker.onConfigChanged();
    }
  }

  /** Renews tokens that are not valid at the coordinator's time, ms. */
  onCoordinatorTime(hubTimeMs: number): void {
    for (const uid of this.#deps.tokens?.podsWithInvalidTokensAt(hubTimeMs) ?? [])
      this.#workers.get(uid)?.onConfigChanged();
  }

  /** Inspects the Pod that the engine's event names, or all Pods after a resync. */
  async onRuntimeEvent(event: RuntimeEvent): Promise<void> {
    switch (event.kind) {
      case 'container': {
        const worker = this.#workers.get(event.podUid);
        if (worker) worker.requestReconcile();
        else if (this.#orphans.needsRefreshFor(event.podUid)) await this.#findAndInspect();
        return;
      }
      case 'resync':
        await this.#findAndInspect();
        return;
      case 'down':
        // Nothing can be inspected before the next `resync`.
        return;
    }
  }

  async #findAndInspect(): Promise<void> {
    await this.findOrphans();
    this.#requestReconcile();
  }

  #requestReconcile(): void {
    for (const worker of this.#workers.values()) worker.requestReconcile();
  }

  /** Queries the engine for Pods that only it knows, and reports them. */
  async findOrphans(): Promise<void> {
    const isKnown = (uid: string): boolean => this.#source.get(uid) !== undefined || this.#workers.has(uid);
    await this.#orphans.find(isKnown);
    const uids = this.orphanedUids();
    if (this.#stopsOrphans) {
      this.stopOrphans();
    } else if (uids.length > 0) {
      this.#deps.log.info({ uids }, 'containers of unknown Pods found; the coordinator decides about them');
      this.#deps.reports.putUnknownUids(uids);
    }
    await this.#sweep((uid) => isKnown(uid) || this.#orphans.has(uid));
  }

  /** After a failure the next caller queries again. */
  #orphansKnown(): Promise<void> {
    this.#firstQuery ??= this.findOrphans().catch((error: unknown) => {
      this.#firstQuery = undefined;
      throw error;
    });
    return this.#firstQuery;
  }

  /** Removes folders of unknown Pods without containers, which an agent left that died between two steps. */
  async #sweep(isKnown: (uid: string) => boolean): Promise<void> {
    const { volumes, log } = this.#deps;
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
    return this.#orphans.uids();
  }

  #isUnknownToHub(uid: string): boolean {
    const worker = this.#workers.get(uid);
    return worker !== undefined && isUnknownToHub(worker.assigned);
  }

  /** Stops all workers but none of the containers. */
  async stop(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop()));
    this.#workers.clear();
  }

  #assign(assigned: AssignedPod): void {
    const present = this.#workers.get(assigned.uid);
    if (present) {
      present.assign(assigned);
      return;
    }
    const worker = new PodWorker(assigned, this.#deps, {
      orphansKnown: () => this.#orphansKnown(),
      hasPredecessor: (own) => this.#hasPredecessor(own),
      hostPortsInUse: (own) => this.#takenPorts(own),
      capacityFor: (own) => this.#resources.capacityFor(own),
      preempt: (own, victims) => this.#resources.preempt(own, victims),
      startGateFor: (own, lock) => this.#startGateFor(own, lock),
      updateLockFor: (own) => this.#updateLockFor(own),
      replace: (victims) => this.#replace(victims),
      onFinished: (own) => this.#onFinished(own),
      onRejected: (own, rejection) => this.#reject(own, rejection),
      onDeadline: (own) => this.#exceedDeadline(own),
    });
    this.#workers.set(assigned.uid, worker);
    worker.requestReconcile();
  }

  #startGateFor(own: AssignedPod, lock: DelayingLock | undefined): StartGate | undefined {
    const rules = startRulesOf(own.pod);
    if (!rules) return undefined;
    const { wallClock, coordinatorNow, clock } = this.#deps;
    const others = rules.series ? seriesPods(own, this.#workers.values()) : [];
    return startGate({
      ...{ rules, wallMs: wallClock.now(), coordinatorMs: coordinatorNow(), others },
      ...{ lock, now: clock.now() },
    });
  }

  /** For a Pod that would be admitted now: a local program may answer for this moment. */
  #updateLockFor(own: AssignedPod): Promise<DelayingLock | undefined> | undefined {
    if (startRulesOf(own.pod)?.maxLockSeconds === undefined) return undefined;
    const { namespace = '', name } = own.pod.metadata;
    const query = { namespace, pod: name, images: podImages(own.pod) };
    return this.#deps
      .askUpdateLock(query)
      .then((lock) => lock && { ...lock, since: this.#source.markLocked(own.uid) });
  }

  #replace(victims: readonly string[]): void {
    const message = 'Ended by a later run of its CronDaemonJob';
    for (const uid of victims) {
      const graceSeconds =
        this.#source.get(uid)?.pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
      this.terminate(
        uid,
        { reason: REPLACED, message, graceSeconds },
        { type: 'Normal', reason: REPLACED, message },
      );
    }
  }

  /** Like the kubelet's rejectPod. */
  #reject({ uid }: AssignedPod, { reason, message }: Rejection): void {
    const termination = { reason, message: `Pod was rejected: ${message}`, graceSeconds: 0 };
    this.terminate(uid, termination, { type: 'Warning', reason, message });
  }

  #exceedDeadline({ uid, pod }: AssignedPod): void {
    const graceSeconds = pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
    this.terminate(uid, { ...DEADLINE_EXCEEDED, graceSeconds }, { type: 'Normal', ...DEADLINE_EXCEEDED });
  }

  #stoppingOrphan(uid: string): AssignedPod | undefined {
    const now = this.#deps.clock.now();
    const assigned = podFromOrphanedContainers(this.#orphans.take(uid), now);
    return assigned && afterUnassign(assigned, now);
  }

  #takenPorts(assigned: AssignedPod): HostPort[] {
    const others = [...this.#workers.values()].filter(({ isFinished, waitsForStart }) => {
      return !isFinished && !waitsForStart;
    });
    return others.flatMap(({ assigned: other }) =>
      keepsPortFrom(other, assigned) ? hostPorts(other.pod.spec) : [],
    );
  }

  #hasPredecessor(assigned: AssignedPod): boolean {
    if (runsForController(this.#orphans.containers(), controllerUidOf(assigned))) return true;
    const all = [...this.#workers.values()];
    return all.some((worker) =>
      isPredecessor(this.#source.get(worker.assigned.uid) ?? worker.assigned, assigned),
    );
  }

  /**
   * A deleted Pod stays assigned until the hub unassigns it, which takes as long as the link is down. Pods that wait
   * for its place or its ports must learn of its end now. An unassigned Pod is forgotten at once.
   */
  #onFinished(assigned: AssignedPod): void {
    const worker = this.#workers.get(assigned.uid);
    if (worker?.assigned !== assigned) return;
    if (!isStopping(assigned)) {
      void this.#replaceReverted(assigned.uid, worker);
      return;
    }
    const leavesPorts = !isUnassigned(assigned) && hostPorts(assigned.pod.spec).length > 0;
    const current = this.#source.get(assigned.uid);
    const isKnown = current !== undefined && hasRemovedContainers(current);
    if ((successorUidOf(assigned) !== undefined || leavesPorts) && !isKnown)
      this.#source.markContainersRemoved(assigned.uid, (uid) => this.hasContainers(uid));
    if (isUnassigned(assigned)) {
      this.#workers.delete(assigned.uid);
      this.#source.forget(assigned, (uid) => this.hasContainers(uid));
      this.#orphans.onPodEnded(assigned.uid);
      void worker.stop();
    }
    for (const other of this.#workers.values()) {
      if (other.assigned.uid !== successorUidOf(assigned) && !isPredecessor(assigned, other.assigned))
        continue;
      other.assign(this.#source.get(other.assigned.uid) ?? other.assigned);
      other.requestReconcile();
    }
  }

  /** Replaces the worker: its state describes the containers of the reverted revision. */
  async #replaceReverted(uid: string, worker: PodWorker): Promise<void> {
    await worker.stop();
    const assigned = await this.#source.markRevertCleared(uid);
    if (this.#workers.get(uid) !== worker) return;
    this.#workers.delete(uid);
    if (assigned) this.#assign(assigned);
  }
}
