/** Checks whether nodes have capacity for the successors of handovers. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { DaemonNode } from '../../decisions/daemonsets/daemon-node.js';
import type { DaemonSetDeps } from '../daemonsets/daemonset-deps.js';
import type { DaemonSetTally } from '../daemonsets/daemonset-tally.js';
import type { HandoverWrites } from './handover-writes.js';

/** Interval after which a node that lacked capacity is checked again without an event. */
export const CAPACITY_RECHECK_MS = 10_000;

export class HandoverCapacity {
  readonly #deps: Pick<DaemonSetDeps, 'informers' | 'reservations'>;
  readonly #hostHandovers: Pick<HandoverWrites, 'successor'>;

  constructor(
    deps: Pick<DaemonSetDeps, 'informers' | 'reservations'>,
    hostHandovers: Pick<HandoverWrites, 'successor'>,
  ) {
    this.#deps = deps;
    this.#hostHandovers = hostHandovers;
  }

  /** Returns why the Pod's node lacks capacity for the successor, in the scheduler's words. []: it has the capacity. */
  refusals(daemonSet: DaemonSet, { subject }: DaemonSetTally, old: Pod): string[] {
    const { nodeName = '' } = old.spec;
    const successor = this.#hostHandovers.successor(daemonSet, subject.current.hash, nodeName);
    return this.#deps.reservations.refusals(successor, nodeName, old);
  }

  /** A node that still lacks capacity gets a handover that waits for it. */
  markLackingCapacity(daemonSet: DaemonSet, tally: DaemonSetTally, node: DaemonNode): DaemonNode {
    const since = tally.lackingCapacitySince.get(node.name);
    if (since === undefined) return node;
    const old = node.pods.find(({ updated, terminating, handover }) => !updated && !terminating && !handover);
    const { namespace } = daemonSet.metadata;
    const pod = old && this.#deps.informers.pods.get({ ...(namespace ? { namespace } : {}), name: old.name });
    const isRefused = node.updateRefusal !== undefined;
    if (!old || !pod || isRefused || this.refusals(daemonSet, tally, pod).length === 0) {
      tally.lackingCapacitySince.delete(node.name);
      return node;
    }
    const handover = { waitReason: 'InsufficientResources', waitingSince: since, forced: false } as const;
    return { ...node, pods: node.pods.map((each) => (each === old ? { ...old, handover } : each)) };
  }
}
