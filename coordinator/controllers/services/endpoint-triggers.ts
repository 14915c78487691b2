/** Decides which Services a change enqueues. A change of a Pod visits only the Services that select it. */
import { isDeepStrictEqual } from 'node:util';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { refText } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { type EndpointSlice, SERVICE_NAME_LABEL } from '../../../shared/kube/services/endpoint-types.js';
import { serviceKey } from '../../../shared/kube/services/service-types.js';
import { hasSameEndpoint, zoneOf } from '../../decisions/services/listed-endpoint.js';
import { type Informers, type ObjectChange, PODS_BY_NODE } from '../../informers/informer.js';
import { ServiceSelectorIndex } from './service-selector-index.js';
import { isManaged } from './slice-reconciler.js';

interface EndpointCalls {
  service(key: string): void;
  /** `triggeredAt`: when the Pod changed, in ms since the epoch. */
  pod(service: string, pod: string, triggeredAt: number | undefined): void;
  slice(service: string, change: ObjectChange<EndpointSlice>): void;
  endpoints(service: string): void;
}

type TriggerInformers = Pick<Informers, 'services' | 'pods' | 'nodes' | 'endpointSlices' | 'endpoints'>;

/** Listens from now on. Objects that exist already count as new. */
export function watchEndpointTriggers(informers: TriggerInformers, calls: EndpointCalls): void {
  const index = new ServiceSelectorIndex();
  informers.services.onChange(({ previous, current }) => {
    index.changed(previous, current);
    const service = current ?? previous;
    if (service) calls.service(serviceKey(service.metadata));
  });
  informers.endpointSlices.onChange((change) => {
    for (const [key, own] of changesByService(change)) calls.slice(key, own);
  });
  informers.endpoints.onChange(({ previous, current }) => {
    const endpoints = current ?? previous;
    if (endpoints) calls.endpoints(refText(endpoints.metadata));
  });
  informers.pods.onChange((change) => callForPod(index, calls, change));
  informers.nodes.onChange((change) => {
    for (const pod of podsToVisit(informers, change))
      for (const key of index.servicesOf(pod)) calls.pod(key, pod.metadata.name, undefined);
  });
}

function callForPod(
  index: ServiceSelectorIndex,
  calls: EndpointCalls,
  { previous, current }: ObjectChange<Pod>,
): void {
  const hasSameLabels =
    previous !== undefined &&
    current !== undefined &&
    (previous.metadata.labels === current.metadata.labels ||
      isDeepStrictEqual(previous.metadata.labels, current.metadata.labels));
  if (hasSameLabels && hasSameEndpoint(previous, current)) return;
  const services = new Set(current ? index.servicesOf(current) : []);
  if (previous && !hasSameLabels) for (const key of index.servicesOf(previous)) services.add(key);
  const name = (current ?? previous)?.metadata.name ?? '';
  const triggeredAt = triggerTimeOf(previous, current);
  for (const key of services) calls.pod(key, name, triggeredAt);
}

/** The last change of readiness, if it is new (endpointslice/util TriggerTimeTracker). */
function triggerTimeOf(previous: Pod | undefined, current: Pod | undefined): number | undefined {
  const changedAt = readyChangeOf(current);
  return changedAt !== undefined && changedAt > (readyChangeOf(previous) ?? 0) ? changedAt : undefined;
}

function readyChangeOf(pod: Pod | undefined): number | undefined {
  const { lastTransitionTime } = findCondition(pod?.status?.conditions, 'Ready') ?? {};
  return lastTransitionTime ? Date.parse(lastTransitionTime) : undefined;
}

/** A missing node hides its Pods, and its zone is listed with them. Heartbeats change neither. */
function podsToVisit({ pods }: TriggerInformers, { previous, current }: ObjectChange<Node>): readonly Pod[] {
  if (previous && current && zoneOf(previous) === zoneOf(current)) return [];
  return pods.indexed(PODS_BY_NODE, (current ?? previous)?.metadata.name ?? '');
}

/** A user may change the labels that connect a slice with its Service. To the former Service that is a deletion. */
function changesByService(change: ObjectChange<EndpointSlice>): Map<string, ObjectChange<EndpointSlice>> {
  const changes = new Map<string, ObjectChange<EndpointSlice>>();
  for (const side of ['previous', 'current'] as const) {
    const slice = change[side];
    const { namespace = '', labels } = slice?.metadata ?? {};
    const name = labels?.[SERVICE_NAME_LABEL];
    if (!slice || !name || !isManaged(slice)) continue;
    const key = serviceKey({ namespace, name });
    changes.set(key, { ...changes.get(key), [side]: slice });
  }
  return changes;
}
