/** Tracks resource usage per node with writes in flight, so that two reconciles cannot use the same capacity. */
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { DEFAULT_SCHEDULER, fitRefusals } from '../../decisions/placement/pod-fit.js';
import { type ResourceUsage, usageOfPods } from '../../decisions/placement/pod-resource-usage.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';

/** The caller must call `settle`: with the written Pod, or without an argument if the write failed. */
type Reservation = { bound: true; settle(written?: Pod): void } | { bound: false; message: string };

/** Decides whether a Pod may be created with `spec.nodeName` already set. */
export interface PodReservations {
  tryReserve(pod: Pod, nodeName: string): Reservation;
  /** Returns the scheduler's reasons against the Pod on the node once `inPlaceOf` is gone; [] if it fits. */
  refusals(pod: Pod, nodeName: string, inPlaceOf: Pod): string[];
}

interface NodeReservationsDeps {
  informers: Pick<Informers, 'pods' | 'nodes' | 'waitFor'>;
  recordEvent: RecordEvent;
}

export class NodeReservations implements PodReservations {
  readonly #deps: NodeReservationsDeps;
  /** By node: Pods that are being written and are not in the informers yet. */
  readonly #inFlight = new Map<string, Set<Pod>>();

  constructor(deps: NodeReservationsDeps) {
    this.#deps = deps;
  }

  /** Returns the usage of a node: live bound Pods, their handover successors, and reservations. */
  usageOf(nodeName: string, without?: Pod): ResourceUsage {
    const bound = this.#deps.informers.pods
      .indexed(PODS_BY_NODE, nodeName)
      .filter((pod) => !isPodTerminal(pod) && pod.metadata.uid !== without?.metadata.uid)
      .map((pod) => ({ spec: pod.spec, next: handoverOf(pod)?.successor.spec }));
    return usageOfPods([...bound, ...(this.#inFlight.get(nodeName) ?? [])]);
  }

  refusals(pod: Pod, nodeName: string, inPlaceOf: Pod): string[] {
    const node = this.#deps.informers.nodes.get({ name: nodeName });
    return node ? fitRefusals(pod, node, this.usageOf(nodeName, inPlaceOf)) : [];
  }

  tryReserve(pod: Pod, nodeName: string): Reservation {
    const node = this.#deps.informers.nodes.get({ name: nodeName });
    if (!node) return { bound: false, message: `node ${nodeName} does not exist` };
    const { schedulerName = DEFAULT_SCHEDULER } = pod.spec;
    if (schedulerName !== DEFAULT_SCHEDULER) return { bound: false, message: `left to ${schedulerName}` };
    const refusals = fitRefusals(pod, node, this.usageOf(nodeName));
    if (refusals.length > 0) return { bound: false, message: refusals.join(', ') };
    this.#reserve(nodeName, pod);
    return { bound: true, settle: (written) => this.#settle(nodeName, pod, written) };
  }

  #reserve(nodeName: string, pod: Pod): void {
    const pods = this.#inFlight.get(nodeName) ?? new Set();
    this.#inFlight.set(nodeName, pods.add(pod));
  }

  #settle(nodeName: string, pod: Pod, written: Pod | undefined): void {
    if (!written) {
      this.#release(nodeName, pod);
      return;
    }
    const text = `Successfully assigned ${written.metadata.namespace}/${written.metadata.name} to ${nodeName}`;
    this.#deps.recordEvent(written, 'Normal', 'Scheduled', text);
    // Until the informers show the Pod, only the reservation protects its capacity.
    void this.#deps.informers.waitFor(revisionOf(written)).then(() => this.#release(nodeName, pod));
  }

  #release(nodeName: string, pod: Pod): void {
    const pods = this.#inFlight.get(nodeName);
    pods?.delete(pod);
    if (pods?.size === 0) this.#inFlight.delete(nodeName);
  }
}

function revisionOf(object: KubeObject): number {
  return Number(object.metadata.resourceVersion ?? 0);
}
