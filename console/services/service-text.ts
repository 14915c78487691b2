/** Texts about Services, as in `kubectl get`. Pure. */
import { type EndpointSlice, SERVICE_NAME_LABEL } from '../../shared/kube/services/endpoint-types.js';
import { type Service, serviceKey } from '../../shared/kube/services/service-types.js';

/** Returns `80/TCP,443:30443/TCP`; the second number is the node port. */
export function portsText({ spec }: Service): string {
  return (spec?.ports ?? [])
    .map(({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol ?? 'TCP'}`)
    .join(', ');
}

/** The ClusterIP, "None" for a headless Service, or the target of an alias. */
export function addressText({ spec }: Service): string {
  return spec?.type === 'ExternalName' ? (spec.externalName ?? '') : (spec?.clusterIP ?? 'None');
}

export interface EndpointCounts {
  ready: number;
  all: number;
}

/** Counts the endpoints of each Service, by `namespace/name`. */
export function endpointCounts(slices: readonly EndpointSlice[]): Map<string, EndpointCounts> {
  const counts = new Map<string, EndpointCounts>();
  for (const { metadata, endpoints } of slices) {
    const name = metadata.labels?.[SERVICE_NAME_LABEL];
    if (!name) continue;
    const key = serviceKey({ namespace: metadata.namespace ?? '', name });
    const { ready, all } = counts.get(key) ?? { ready: 0, all: 0 };
    const listed = endpoints ?? [];
    const readyHere = listed.filter(({ conditions }) => conditions?.ready !== false).length;
    counts.set(key, { ready: ready + readyHere, all: all + listed.length });
  }
  return counts;
}
