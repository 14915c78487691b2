/** The Pods of this host with their last reported statuses, as endpoints need them. */
import type { PodReport } from '../../shared/link/messages/link-messages.js';
import type { AssignedPod } from '../decisions/pods/assigned-pod.js';
import {
  type LocalPod,
  localPod,
  type PodReachability,
  podReachability,
} from '../decisions/services/local-endpoints.js';

/** Assigned Pods, and a notification of their changes. */
export interface AssignedPods {
  all(): Iterable<AssignedPod>;
  get(uid: string): AssignedPod | undefined;
}

export class LocalPods {
  readonly #assigned: AssignedPods;
  readonly #statuses = new Map<string, PodReachability>();

  /** `statuses`: those of the previous agent in the same boot. */
  constructor(assigned: AssignedPods, statuses: Iterable<[uid: string, status: PodReachability]> = []) {
    this.#assigned = assigned;
    for (const [uid, status] of statuses) if (assigned.get(uid)) this.#statuses.set(uid, status);
  }

  /** Stores a reported status. Returns true if endpoints may change by it. */
  record({ uid, status }: Pick<PodReport, 'uid' | 'status'>): boolean {
    const next = podReachability(status);
    if (JSON.stringify(next) === JSON.stringify(this.#statuses.get(uid))) return false;
    this.#statuses.set(uid, next);
    return true;
  }

  /** Forgets the statuses of Pods that are no longer assigned. */
  prune(): void {
    for (const uid of this.#statuses.keys()) if (!this.#assigned.get(uid)) this.#statuses.delete(uid);
  }

  statuses(): Iterable<[uid: string, status: PodReachability]> {
    return this.#statuses;
  }

  /** Returns the uid of the Pod with this address. */
  withAddress(address: string): string | undefined {
    for (const { pod } of this.all())
      if (pod.status?.podIPs?.some(({ ip }) => ip === address)) return pod.metadata.uid;
    return undefined;
  }

  /** Returns the Pods that may be endpoints. */
  all(): LocalPod[] {
    return [...this.#assigned.all()].flatMap(
      (assigned) => localPod(assigned, this.#statuses.get(assigned.uid)) ?? [],
    );
  }
}
