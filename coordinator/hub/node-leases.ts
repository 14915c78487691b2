/** Node Leases as kubelets would renew them, computed from presence: a heartbeat costs no write. */
import type { Lease } from '../../shared/kube/event.js';
import { toMicroTime } from '../../shared/kube/meta.js';
import type { VirtualReader } from '../kinds/kind.js';
import type { Presence } from './presence.js';

const NAMESPACE = 'kube-node-lease';

/** Reads the Lease of each node that was heard since the coordinator's start; `durationMs` is the grace. */
export function nodeLeases(presence: Presence, durationMs: number): VirtualReader<Lease> {
  const leaseOf = (node: string): Lease | undefined => {
    const heardMs = presence.lastHeardMs(node);
    if (heardMs === undefined) return undefined;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: node, namespace: NAMESPACE },
      spec: {
        holderIdentity: node,
        leaseDurationSeconds: Math.ceil(durationMs / 1_000),
        renewTime: toMicroTime(heardMs),
      },
    };
  };
  return {
    get: ({ namespace, name }) => (namespace === NAMESPACE ? leaseOf(name) : undefined),
    list: (namespace) =>
      namespace === undefined || namespace === NAMESPACE
        ? [...presence.nodes()].flatMap(([node]) => leaseOf(node) ?? [])
        : [],
  };
}
