/** Simulated hosts, which perform at once, on a timeline, what the node reconciler would order. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { CurrentRevision, DaemonNode, DaemonPod } from '../../decisions/daemonsets/daemon-node.js';
import type { FailedPodBackoff } from '../../decisions/daemonsets/failed-pod-backoff.js';
import { recordNode } from '../../decisions/daemonsets/node-record.js';
import { isIdle, nodeStep } from '../../decisions/daemonsets/node-step.js';
import type { NodeContact } from '../../decisions/nodes/node-contact.js';
import type { PodTimings } from '../../decisions/rollouts/pod-timings.js';
import type { DaemonSetTally, NodeAction } from '../daemonsets/daemonset-tally.js';
import { type RolloutConstraints, UNCONSTRAINED } from '../rollouts/rollout-constraints.js';
import type { SimulationTimeline } from './simulation-timeline.js';

/** A node before the simulation. */
export interface InitialHost extends DaemonNode {
  contact: NodeContact;
  /** Its placement if it is pinned to this revision (`placementOn`). */
  pinnedTo(other: DaemonSet): Partial<DaemonNode>;
}

/** State of a host in the simulation. Times are ms since the epoch. */
export interface SimulatedHostState {
  pods: DaemonPod[];
  /** When the first Pod is created or deleted. Absent: never. */
  firstAt?: number;
  /** When the last change ended. */
  lastAt?: number;
  created: number;
  deleted: number;
  /** The host replaces its Pod itself and has to confirm the successor. */
  isHandedOver?: boolean;
  /** The API refused a create of a Pod for this host. */
  isRefused?: boolean;
}

export interface SimulatedHostsOptions {
  daemonSet: DaemonSet;
  current: CurrentRevision;
  tally: DaemonSetTally;
  timeline: SimulationTimeline;
  pace: PodTimings;
  hosts: readonly InitialHost[];
  /** How long a host watches a successor before it confirms it, in ms. 0: it does not confirm. */
  confirmMs: number;
  /** Returns true if the API refuses the host's Pod of the current revision. */
  isRefused(name: string): boolean;
  /** Returns true if the host replaces its Pod itself. */
  isHandover(name: string): boolean;
}

/** Does the work of `DaemonSetNodeReconciler`, without a registry or agents. */
export class SimulatedHosts {
  readonly #options: SimulatedHostsOptions;
  readonly #before = new Map<string, InitialHost>();
  readonly #courses = new Map<string, SimulatedHostState>();
  readonly #backoffs = new Map<string, FailedPodBackoff>();
  /** The constraints at the present time of the simulation. */
  constraints: RolloutConstraints = UNCONSTRAINED;
  #made = 0;

  constructor(options: SimulatedHostsOptions) {
    this.#options = options;
    for (const host of options.hosts) {
      this.#before.set(host.name, host);
      this.#courses.set(host.name, { pods: [...host.pods], created: 0, deleted: 0 });
    }
  }

  hostState(name: string): SimulatedHostState | undefined {
    return this.#courses.get(name);
  }

  /** Like the node reconciler: observes the node, then creates and deletes Pods, or else performs its action. */
  reconcile(name: string): void {
    const host = this.#before.get(name);
    const hostState = this.#courses.get(name);
    if (!host || !hostState) return;
    const { tally, daemonSet, current, timeline } = this.#options;
    const order = tally.takeAction(name)?.action;
    const { now } = timeline;
    const other = this.constraints.pinnedRevision(name);
    const node: DaemonNode = { ...host, ...(other && host.pinnedTo(other.daemonSet)), pods: hostState.pods };
    const backoff = this.#backoffs.get(name);
    const step = nodeStep({ node, spec: daemonSet.spec, current, backoff, now });
    const record = recordNode(node, daemonSet.spec.minReadySeconds ?? 0, now);
    tally.record(name, record);
    const again = [record.requeueAt, step.requeueAt].filter((at) => at !== undefined);
    if (again.length > 0) timeline.after(Math.min(...again) - now, () => this.reconcile(name));
    if (isIdle(step) && !order) return;
    if (order !== 'withdraw' && tally.deferIfFrozen(name, this.constraints)) return;
    if (!isIdle(step)) {
      if (step.backoff) this.#backoffs.set(name, step.backoff);
      for (const deletion of step.delete) this.#delete(host, hostState, deletion.name);
      if (step.create && !this.#create(host, hostState)) return;
    } else if (order && !this.#replace(host, hostState, order, record.updateStatus?.oldPod)) return;
    this.reconcile(name);
  }

  /** Performs the action if it is still possible. Returns false if it is not. */
  #replace(
    host: InitialHost,
    hostState: SimulatedHostState,
    order: NodeAction,
    oldPod: string | undefined,
  ): boolean {
    const live = hostState.pods.filter((pod) => !pod.terminating);
    const newPod = live.find(({ updated }) => updated);
    if (order === 'revert' && newPod) this.#delete(host, hostState, newPod.name);
    else if (order === 'replace' && oldPod) {
      const isHostTurn = live.length === 1 && host.shouldRun && this.#options.isHandover(host.name);
      if (isHostTurn && this.#isRefused(host.name)) return this.#refuse(host, hostState);
      hostState.isHandedOver = true;
      this.#delete(host, hostState, oldPod);
    } else if (order === 'create' && oldPod && live.length === 1) return this.#create(host, hostState);
    else return false;
    return true;
  }

  /** Assumes that Pods of an earlier revision are accepted, because they were accepted before. */
  #isRefused(name: string): boolean {
    return this.#options.isRefused(name) && this.constraints.pinnedRevision(name) === undefined;
  }

  /** The controller retries until the API accepts the Pod. Until then the host uses budget. */
  #refuse({ name }: InitialHost, hostState: SimulatedHostState): false {
    hostState.isRefused = true;
    this.#options.tally.markInProgress(name);
    return false;
  }

  #changed(hostState: SimulatedHostState): void {
    const { now } = this.#options.timeline;
    hostState.firstAt ??= now;
    hostState.lastAt = now;
  }

  /** An offline host stops its Pod when it returns, which no plan can predict. */
  #delete({ name, contact }: InitialHost, hostState: SimulatedHostState, podName: string): void {
    const { timeline, pace } = this.#options;
    hostState.deleted += 1;
    this.#changed(hostState);
    hostState.pods = hostState.pods.map((pod) =>
      pod.name === podName ? { ...pod, terminating: true } : pod,
    );
    if (contact !== 'here') return;
    timeline.after(pace.stopMs, () => {
      hostState.pods = hostState.pods.filter((pod) => pod.name !== podName);
      this.#changed(hostState);
      this.reconcile(name);
    });
  }

  /** Returns false if the API refuses the Pod. */
  #create(host: InitialHost, hostState: SimulatedHostState): boolean {
    if (this.#isRefused(host.name)) return this.#refuse(host, hostState);
    const { name, contact } = host;
    const { timeline, pace, current } = this.#options;
    const other = this.constraints.pinnedRevision(name);
    this.#made += 1;
    const pod: DaemonPod = {
      name: `new-${this.#made}`,
      scheduled: true,
      createdAt: timeline.now,
      phase: 'Pending',
      terminating: false,
      ready: false,
      hash: other?.hash ?? current.hash,
      updated: other === undefined,
    };
    hostState.created += 1;
    hostState.pods = [...hostState.pods, pod];
    this.#changed(hostState);
    if (contact !== 'here') return true;
    const confirmMs = hostState.isHandedOver ? this.#options.confirmMs : 0;
    delete hostState.isHandedOver;
    timeline.after(pace.startMs, () => {
      const ready = { phase: 'Running' as const, ready: true, readySince: timeline.now };
      this.#becomes(name, hostState, pod.name, { ...ready, confirming: confirmMs > pace.startMs });
    });
    if (confirmMs > pace.startMs) {
      timeline.after(confirmMs, () => this.#becomes(name, hostState, pod.name, { confirming: false }));
    }
    return true;
  }

  #becomes(node: string, hostState: SimulatedHostState, podName: string, change: Partial<DaemonPod>): void {
    hostState.pods = hostState.pods.map((each) => (each.name === podName ? { ...each, ...change } : each));
    this.#changed(hostState);
    this.reconcile(node);
  }
}
