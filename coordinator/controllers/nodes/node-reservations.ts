/** Tracks resource usage per node with writes in flight, so that two reconciles cannot use the same capacity. */
import { controllerOf, type KubeObject } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { podPriority } from '../../../shared/kube/pods/priority-class.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { DEFAULT_SCHEDULER, fitRefusals } from '../../decisions/placement/pod-fit.js';
import {
  type ResourceUsage,
  type UsageSource,
  usageOfPods,
} from '../../decisions/placement/pod-resource-usage.js';
import { usageSource } from '../../decisions/placement/preemption.js';
import {
  BY_OWNER,
  type Informers,
  PODS_BY_NODE,
  PODS_BY_NOMINATED_NODE,
  PODS_BY_TARGET_NODE,
} from '../../informers/informer.js';
import { expectedPriority } from '../../registry/admission/priority-admission.js';

/** The caller must call `settle`: with the written Pod, or without an argument if the write failed. */
type Reservation = { bound: true; settle(written?: Pod): void } | { bound: false; message: string };

/** Decides whether a Pod may be created with `spec.nodeName` already set. */
export interface PodReservations {
  /** A Pod that another unbound Pod of the node outranks is left to the scheduler, which binds the other one first. */
  tryReserveNew(pod: Pod, nodeName: string): Reservation;
  /** Returns the scheduler's reasons against the Pod on the node once `inPlaceOf` is gone; [] if it fits. */
  refusals(pod: Pod, nodeName: string, inPlaceOf: Pod): string[];
}

interface NodeReservationsDeps {
  informers: Pick<Informers, 'pods' | 'nodes' | 'priorityClasses' | 'waitFor'>;
  recordEvent: RecordEvent;
}

export class NodeReservations implements PodReservations {
  readonly #deps: NodeReservationsDeps;
  /** By node: Pods that are being written and are not in the informers yet. */
  readonly #inFlight = new Map<string, Set<Pod>>();
  /** By node: Pods that are being nominated for it. */
  readonly #nominating = new Map<string, Set<Pod>>();

  constructor(deps: NodeReservationsDeps) {
    this.#deps = deps;
  }

  /** Returns how many live Pods of the Pod's owner each node has, with those in flight. */
  siblings({ metadata }: Pod): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const owner = controllerOf(metadata)?.uid;
    if (owner === undefined) return counts;
    const add = (node: string) => counts.set(node, (counts.get(node) ?? 0) + 1);
    const seen = new Set<string | undefined>();
    for (const pod of this.#deps.informers.pods.indexed(BY_OWNER, owner)) {
      if (!pod.spec.nodeName || pod.metadata.deletionTimestamp || isPodTerminal(pod)) continue;
      seen.add(pod.metadata.uid);
      add(pod.spec.nodeName);
    }
    for (const [node, pods] of this.#inFlight) {
      for (const pod of pods) {
        if (controllerOf(pod.metadata)?.uid === owner && !seen.has(pod.metadata.uid)) add(node);
      }
    }
    return counts;
  }

  /** Returns the usage that counts against the Pod: bound Pods, reservations, and nominated Pods that it does not outrank. */
  usageFor(pod: Pod, nodeName: string, without?: Pod): ResourceUsage {
    const bound = this.#deps.informers.pods
      .indexed(PODS_BY_NODE, nodeName)
      .filter((other) => !isPodTerminal(other) && other.metadata.uid !== without?.metadata.uid);
    return usageOfPods([...bound.map(usageSource), ...this.reservedAgainst(pod, nodeName)]);
  }

  /**
   * Returns reservations, and nominated Pods of at least the Pod's priority. Without the latter, the successor of a
   * victim would take the capacity that was freed for the preemptor.
   */
  reservedAgainst(pod: Pod, nodeName: string): UsageSource[] {
    const inFlight = [...(this.#inFlight.get(nodeName) ?? [])];
    const nominated = this.nominatedOn(nodeName);
    if (nominated.length === 0) return inFlight;
    const uids = new Set([pod.metadata.uid, ...inFlight.map(({ metadata }) => metadata.uid)]);
    const priority = expectedPriority(pod, this.#deps.informers.priorityClasses);
    const counted = nominated.filter(
      (other) => podPriority(other) >= priority && !uids.has(other.metadata.uid),
    );
    return [...inFlight, ...counted];
  }

  /** Returns the unbound Pods for which the node is nominated, or is about to be. */
  nominatedOn(nodeName: string): readonly Pod[] {
    const stored = this.#deps.informers.pods
      .indexed(PODS_BY_NOMINATED_NODE, nodeName)
      .filter((pod) => !pod.metadata.deletionTimestamp && !isPodTerminal(pod));
    const writing = this.#nominating.get(nodeName);
    if (!writing) return stored;
    const uids = new Set([...writing].map(({ metadata }) => metadata.uid));
    return [...writing, ...stored.filter(({ metadata }) => !uids.has(metadata.uid))];
  }

  refusals(pod: Pod, nodeName: string, inPlaceOf: Pod): string[] {
    const node = this.#deps.informers.nodes.get({ name: nodeName });
    return node ? fitRefusals(pod, node, this.usageFor(pod, nodeName, inPlaceOf)) : [];
  }

  tryReserveNew(pod: Pod, nodeName: string): Reservation {
    if (this.#isOutranked(pod, nodeName)) return { bound: false, message: 'a Pod of higher priority waits' };
    return this.tryReserve(pod, nodeName);
  }

  #isOutranked(pod: Pod, nodeName: string): boolean {
    const { pods, priorityClasses } = this.#deps.informers;
    const unbound = pods
      .indexed(PODS_BY_TARGET_NODE, nodeName)
      .filter(({ spec, metadata }) => !spec.nodeName && !metadata.deletionTimestamp);
    if (unbound.length === 0) return false;
    const priority = expectedPriority(pod, priorityClasses);
    return unbound.some((other) => podPriority(other) > priority);
  }

  tryReserve(pod: Pod, nodeName: string): Reservation {
    const node = this.#deps.informers.nodes.get({ name: nodeName });
    if (!node) return { bound: false, message: `node ${nodeName} does not exist` };
    const { schedulerName = DEFAULT_SCHEDULER } = pod.spec;
    if (schedulerName !== DEFAULT_SCHEDULER) return { bound: false, message: `left to ${schedulerName}` };
    const refusals = fitRefusals(pod, node, this.usageFor(pod, nodeName));
    if (refusals.length > 0) return { bound: false, message: refusals.join(', ') };
    addTo(this.#inFlight, nodeName, pod);
    return { bound: true, settle: (written) => this.#settle(nodeName, pod, written) };
  }

  /** Reserves the node for the Pod until the informers show its nomination. The caller must call the result. */
  nominate(pod: Pod, nodeName: string): (written?: Pod) => void {
    addTo(this.#nominating, nodeName, pod);
    return (written) => this.#releaseLater(this.#nominating, nodeName, pod, written);
  }

  #settle(nodeName: string, pod: Pod, written: Pod | undefined): void {
    if (written) {
      const text = `Successfully assigned ${written.metadata.namespace}/${written.metadata.name} to ${nodeName}`;
      this.#deps.recordEvent(written, 'Normal', 'Scheduled', text);
    }
    this.#releaseLater(this.#inFlight, nodeName, pod, written);
  }

  /** Until the informers show the written Pod, only the entry protects its capacity. */
  #releaseLater(entries: Map<string, Set<Pod>>, nodeName: string, pod: Pod, written: Pod | undefined): void {
    if (!written) {
      removeFrom(entries, nodeName, pod);
      return;
    }
    void this.#deps.informers.waitFor(revisionOf(written)).then(() => removeFrom(entries, nodeName, pod));
  }
}

function addTo(entries: Map<string, Set<Pod>>, nodeName: string, pod: Pod): void {
  const pods = entries.get(nodeName) ?? new Set();
  entries.set(nodeName, pods.add(pod));
}

function removeFrom(entries: Map<string, Set<Pod>>, nodeName: string, pod: Pod): void {
  const pods = entries.get(nodeName);
  pods?.delete(pod);
  if (pods?.size === 0) entries.delete(nodeName);
}

function revisionOf(object: KubeObject): number {
  return Number(object.metadata.resourceVersion ?? 0);
}
