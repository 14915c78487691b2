/** Hosts that only pretend: they do at once, on a timeline, what nodes' keys would order of real ones. */
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

/** A node as it stands before anything happens. */
export interface InitialHost extends DaemonNode {
  contact: NodeContact;
  /** Its place where its Pods are made of this revision instead of the current one (`placeOn`). */
  pinnedTo(other: DaemonSet): Partial<DaemonNode>;
}

/** What becomes of a host. Times are ms since the epoch. */
export interface SimulatedHostState {
  pods: DaemonPod[];
  /** When the first Pod is created or deleted there; absent: never. */
  firstAt?: number;
  /** When the last change was over. */
  lastAt?: number;
  created: number;
  deleted: number;
  /** Its host replaces the Pod that it has, and is to confirm the next. */
  isHandedOver?: boolean;
  /** A Pod was to be created there, and the API refused it. */
  isRefused?: boolean;
}

export interface SimulatedHostsOptions {
  daemonSet: DaemonSet;
  current: CurrentRevision;
  tally: DaemonSetTally;
  timeline: SimulationTimeline;
  pace: PodTimings;
  hosts: readonly InitialHost[];
  /** How long a host watches what it brings in the place of another Pod before it confirms it, ms; 0: it does not. */
  confirmMs: number;
  /** The API refuses Pods of the current revision. */
  isRefused: boolean;
  /** Whether the host itself replaces its Pod, on terms that the policy gives it. */
  isHandover(name: string): boolean;
}

/** What `DaemonSetNodes` does with a registry and agents, without either. */
export class SimulatedHosts {
  readonly #options: SimulatedHostsOptions;
  readonly #before = new Map<string, InitialHost>();
  readonly #courses = new Map<string, SimulatedHostState>();
  readonly #backoffs = new Map<string, FailedPodBackoff>();
  /** Of the simulated rollout at its present time. */
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

  /** As a node's key: counts, then creates and deletes what must be, else takes its turn. */
  reconcile(name: string): void {
    const host = this.#before.get(name);
    const course = this.#courses.get(name);
    if (!host || !course) return;
    const { tally, daemonSet, current, timeline } = this.#options;
    const order = tally.takeAction(name)?.action;
    const { now } = timeline;
    const other = this.constraints.pinnedRevision(name);
    const node: DaemonNode = { ...host, ...(other && host.pinnedTo(other.daemonSet)), pods: course.pods };
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
      for (const deletion of step.delete) this.#delete(host, course, deletion.name);
      if (step.create && !this.#create(host, course)) return;
    } else if (order && !this.#replace(host, course, order, record.updateStatus?.oldPod)) return;
    this.reconcile(name);
  }

  /** Carries out a turn, if it still makes sense. False: nothing came of it. */
  #replace(
    host: InitialHost,
    course: SimulatedHostState,
    order: NodeAction,
    oldPod: string | undefined,
  ): boolean {
    const live = course.pods.filter((pod) => !pod.terminating);
    const newPod = live.find(({ updated }) => updated);
    if (order === 'revert' && newPod) this.#delete(host, course, newPod.name);
    else if (order === 'replace' && oldPod) {
      const isHostTurn = live.length === 1 && host.shouldRun && this.#options.isHandover(host.name);
      if (isHostTurn && this.#isRefused(host.name)) return this.#refuse(host, course);
      course.isHandedOver = true;
      this.#delete(host, course, oldPod);
    } else if (order === 'create' && oldPod && live.length === 1) return this.#create(host, course);
    else return false;
    return true;
  }

  /** Pods of an earlier revision are not judged: a template that was accepted before usually is again. */
  #isRefused(name: string): boolean {
    return this.#options.isRefused && this.constraints.pinnedRevision(name) === undefined;
  }

  /** The controller retries until the refusal ends, and until then the host uses budget. */
  #refuse({ name }: InitialHost, course: SimulatedHostState): false {
    course.isRefused = true;
    this.#options.tally.markInProgress(name);
    return false;
  }

  #changed(course: SimulatedHostState): void {
    const { now } = this.#options.timeline;
    course.firstAt ??= now;
    course.lastAt = now;
  }

  /** A host out of contact stops nothing until it is back, which nobody can foresee. */
  #delete({ name, contact }: InitialHost, course: SimulatedHostState, podName: string): void {
    const { timeline, pace } = this.#options;
    course.deleted += 1;
    this.#changed(course);
    course.pods = course.pods.map((pod) => (pod.name === podName ? { ...pod, terminating: true } : pod));
    if (contact !== 'here') return;
    timeline.after(pace.stopMs, () => {
      course.pods = course.pods.filter((pod) => pod.name !== podName);
      this.#changed(course);
      this.reconcile(name);
    });
  }

  /** False: the API refuses the Pod. */
  #create(host: InitialHost, course: SimulatedHostState): boolean {
    if (this.#isRefused(host.name)) return this.#refuse(host, course);
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
    course.created += 1;
    course.pods = [...course.pods, pod];
    this.#changed(course);
    if (contact !== 'here') return true;
    const confirmMs = course.isHandedOver ? this.#options.confirmMs : 0;
    delete course.isHandedOver;
    timeline.after(pace.startMs, () => {
      const ready = { phase: 'Running' as const, ready: true, readySince: timeline.now };
      this.#becomes(name, course, pod.name, { ...ready, confirming: confirmMs > pace.startMs });
    });
    if (confirmMs > pace.startMs) {
      timeline.after(confirmMs, () => this.#becomes(name, course, pod.name, { confirming: false }));
    }
    return true;
  }

  #becomes(node: string, course: SimulatedHostState, podName: string, change: Partial<DaemonPod>): void {
    course.pods = course.pods.map((each) => (each.name === podName ? { ...each, ...change } : each));
    this.#changed(course);
    this.reconcile(node);
  }
}
