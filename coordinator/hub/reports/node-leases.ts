/** Computes Node Leases as kubelets would renew them. A heartbeat causes no write. */
import type { Lease } from '../../../shared/kube/objects/event-types.js';
import { type Timestamp, toMicroTime } from '../../../shared/kube/objects/meta.js';
import type { VirtualReader } from '../../kinds/kind.js';
import type { NodeLiveness } from '../sessions/node-liveness.js';

const NAMESPACE = 'kube-node-lease';

interface NodeLeasesDeps {
  liveness: NodeLiveness;
  /** Creation time of the Node, used as the creation time of its Lease. */
  createdAt: (node: string) => Timestamp | undefined;
}

/** Returns a reader for the Leases of all nodes that have connected since the coordinator's start. */
export function nodeLeases({ liveness, createdAt }: NodeLeasesDeps): VirtualReader<Lease> {
  const leaseOf = (node: string): Lease | undefined => {
    const lastSeenMs = liveness.lastSeenMs(node);
    if (lastSeenMs === undefined) return undefined;
    const creationTimestamp = createdAt(node);
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: node, namespace: NAMESPACE, ...(creationTimestamp ? { creationTimestamp } : {}) },
      spec: {
        holderIdentity: node,
        leaseDurationSeconds: Math.ceil(liveness.graceMs(node) / 1_000),
        renewTime: toMicroTime(lastSeenMs),
      },
    };
  };
  return {
    namespace: NAMESPACE,
    get: leaseOf,
    list: () => [...liveness.nodes()].flatMap(([node]) => leaseOf(node) ?? []),
  };
}
