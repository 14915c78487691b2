/** Endpoints of Services on this host, from its own Pods. Needs no coordinator. */
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { Pod, PodPhase, PodStatus } from '../../../shared/kube/pods/pod-types.js';
import { directTarget, type EndpointRules, podEndpoint } from '../../../shared/kube/services/pod-endpoint.js';
import type { ServiceView } from '../../../shared/kube/services/service-view.js';
import { effectivePod } from '../handovers/assigned-pod-handover.js';
import { type AssignedPod, hasRemovedContainers, stopDeadlineOf } from '../pods/assigned-pod.js';
import type { LocalEndpoint } from './host-service.js';

/** The fields of a Pod's last status that its endpoints depend on. */
export interface PodReachability {
  phase: PodPhase;
  podIPs: string[];
  /** "" if unknown. */
  hostIP: string;
  isReady: boolean;
}

/** Returns the fields of a reported status that endpoints depend on. */
export function podReachability({
  phase = 'Pending',
  podIP,
  podIPs,
  hostIP,
  conditions,
}: PodStatus): PodReachability {
  const listed = (podIPs ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  return {
    phase,
    podIPs: listed.length > 0 || !podIP ? listed : [podIP],
    hostIP: hostIP ?? '',
    isReady: conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
  };
}

/** A Pod of this host that may be an endpoint. */
export interface LocalPod {
  pod: Pod;
  /** When this host first received the Pod, ms since the epoch. */
  acceptedAt: number;
}

/**
 * Returns the Pod with its last reported status. Undefined: it has reported none, or its containers are removed. A Pod
 * that this host stops counts as terminating before the coordinator knows.
 */
export function localPod(assigned: AssignedPod, status: PodReachability | undefined): LocalPod | undefined {
  if (!status || hasRemovedContainers(assigned)) return undefined;
  const { pod, acceptedAt } = effectivePod(assigned);
  const { phase, podIPs, hostIP, isReady } = status;
  return {
    acceptedAt,
    pod: {
      ...pod,
      metadata: metadataOf(pod, stopDeadlineOf(assigned)),
      status: {
        phase,
        podIPs: podIPs.map((ip) => ({ ip })),
        ...(hostIP && { hostIP }),
        conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
      },
    },
  };
}

function metadataOf({ metadata }: Pod, stopDeadline: number | undefined): ObjectMeta {
  if (metadata.deletionTimestamp || stopDeadline === undefined) return metadata;
  return { ...metadata, deletionTimestamp: toTimestamp(stopDeadline) };
}

/** Returns the Service's endpoints among these Pods. A Service without a selector has none: its view lists them all. */
export function localEndpoints(
  view: ServiceView,
  pods: Iterable<LocalPod>,
  { node, zone }: { node: string; zone: string },
): LocalEndpoint[] {
  if (!view.selector) return [];
  const matcher = compileLabelSelector({ matchLabels: view.selector });
  const rules = endpointRules(view);
  return [...pods].flatMap(({ pod }) => {
    const { namespace, labels } = pod.metadata;
    if (namespace !== view.namespace || !matcher.matches(labels)) return [];
    const found = podEndpoint(rules, pod, view.relayPorts);
    if (!found) return [];
    const { hostname, addresses, ports, state } = found;
    return [{ node, hostname, zone, addresses, ports, state, direct: directTarget(rules, pod) }];
  });
}

function endpointRules({ name, ports, publishNotReadyAddresses }: ServiceView): EndpointRules {
  return { name, publishNotReadyAddresses, ports: ports.map(({ nodePort: _, ...port }) => port) };
}
