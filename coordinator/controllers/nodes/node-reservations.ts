/** Who has which room on which node, writes in flight included: two keys never take the same. */
import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { DEFAULT_SCHEDULER, fitRefusals } from '../../decisions/placement/pod-fit.js';
import { type ResourceUsage, usageOfPods } from '../../decisions/placement/pod-resource-usage.js';
import { type Informers, PODS_BY_NODE } from '../../informers/informer.js';
import type { RecordEvent } from '../events/event-recorder.js';

/** `settle` must be called: with the written Pod, or with nothing when the write failed. */
type Reservation = { bound: true; settle(written?: Pod): void } | { bound: false; message: string };

/** What creators of Pods need: may this Pod be written with `spec.nodeName` already set? */
export interface PodReservations {
  tryReserve(pod: Pod, nodeName: string): Reservation;
  /** Why the node has no room for the Pod once this one has left, in the scheduler's words; [] = it has. */
  refusals(pod: Pod, nodeName: string, inPlaceOf: Pod): string[];
}

interface NodeReservationsDeps {
  informers: Pick<Informers, 'pods' | 'nodes' | 'waitFor'>;
  recordEvent: RecordEvent;
}

export class NodeReservations implements PodReservations {
  readonly #parts: NodeReservationsDeps;
  /** By node: Pods whose write has begun and which the informers do not show on that node yet. */
  readonly #inFlight = new Map<string, Set<Pod>>();

  constructor(parts: NodeReservationsDeps) {
    this.#parts = parts;
  }

  /**
   * Taken on a node now: every Pod bound to it that has not ended, what its host may put in a Pod's place at any moment, and
   * the reservations.
   */
  usageOf(nodeName: string, without?: Pod): ResourceUsage {
    const bound = this.#parts.informers.pods
      .indexed(PODS_BY_NODE, nodeName)
      .filter((pod) => !isPodTerminal(pod) && pod.metadata.uid !== without?.metadata.uid)
      .map((pod) => ({ spec: pod.spec, next: handoverOf(pod)?.successor.spec }));
    return usageOfPods([...bound, ...(this.#inFlight.get(nodeName) ?? [])]);
  }

  refusals(pod: Pod, nodeName: string, inPlaceOf: Pod): string[] {
    const node = this.#parts.informers.nodes.get({ name: nodeName });
    return node ? fitRefusals(pod, node, this.usageOf(nodeName, inPlaceOf)) : [];
  }

  tryReserve(pod: Pod, nodeName: string): Reservation {
    const node = this.#parts.informers.nodes.get({ name: nodeName });
    if (!node) return { bound: false, message: `node ${nodeName} is not known` };
    const { schedulerName = DEFAULT_SCHEDULER } = pod.spec;
    if (schedulerName !== DEFAULT_SCHEDULER) return { bound: false, message: `left to ${schedulerName}` };
    const refusals = fitRefusals(pod, node, this.usageOf(nodeName));
    if (refusals.length > 0) return { bound: false, message: refusals.join(', ') };
    this.#hold(nodeName, pod);
    return { bound: true, settle: (written) => this.#settle(nodeName, pod, written) };
  }

  #hold(nodeName: string, pod: Pod): void {
    const pods = this.#inFlight.get(nodeName) ?? new Set();
    this.#inFlight.set(nodeName, pods.add(pod));
  }

  #settle(nodeName: string, pod: Pod, written: Pod | undefined): void {
    if (!written) {
      this.#release(nodeName, pod);
      return;
    }
    const text = `Successfully assigned ${written.metadata.namespace}/${written.metadata.name} to ${nodeName}`;
    this.#parts.recordEvent(written, 'Normal', 'Scheduled', text);
    // Until the informers show it, only the reservation holds its room.
    void this.#parts.informers.waitFor(revisionOf(written)).then(() => this.#release(nodeName, pod));
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
