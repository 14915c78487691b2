/**
 * Decides which EndpointSlices mirror the Endpoints that a user writes for a Service without a selector
 * (pkg/controller/endpointslicemirroring). There is one slice for each set of ports and each address family.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import {
  type Endpoint,
  type EndpointAddress,
  type EndpointPort,
  type EndpointSlice,
  type Endpoints,
  MANAGED_BY_LABEL,
  SERVICE_NAME_LABEL,
} from '../../../shared/kube/services/endpoint-types.js';
import { ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY } from './endpoints-object.js';
import { portsKey, type SliceChanges, type SliceContent } from './slice-changes.js';

/** Value of the label `managed-by` of mirrored slices. */
export const MIRRORING_CONTROLLER = 'endpointslicemirroring-controller.k8s.io';
/** Most endpoints of a mirrored slice (--mirroring-max-endpoints-per-subset). */
const MAX_MIRRORED = 1_000;

/** Returns true if these Endpoints of a Service without a selector are mirrored. */
export function isMirrorable({ metadata: { labels, annotations } }: Endpoints): boolean {
  return (
    labels?.['endpointslice.kubernetes.io/skip-mirror'] !== 'true' &&
    annotations?.['control-plane.alpha.kubernetes.io/leader'] === undefined &&
    // A Service that lost its selector keeps the slices that list the same Pods.
    labels?.[ENDPOINTS_MANAGED_BY] !== ENDPOINTS_CONTROLLER
  );
}

/** `existing`: all mirrored slices of the Service. */
export function mirrorChanges(endpoints: Endpoints, existing: readonly EndpointSlice[]): SliceChanges {
  const wanted = mirroredContents(endpoints);
  const changes: SliceChanges = { create: [], update: [], remove: [] };
  const left: EndpointSlice[] = [];
  for (const slice of existing) {
    const key = groupKey(slice.addressType, slice.ports ?? []);
    const content = isOwnedBy(slice, endpoints) ? wanted.get(key) : undefined;
    if (!content) {
      left.push(slice);
      continue;
    }
    wanted.delete(key);
    const isSame =
      isDeepStrictEqual(slice.endpoints ?? [], content.endpoints) &&
      isDeepStrictEqual(slice.metadata.labels, content.labels);
    if (!isSame) changes.update.push({ slice, content });
  }
  changes.remove = left;
  if (!endpoints.metadata.deletionTimestamp) changes.create = [...wanted.values()];
  return changes;
}

function mirroredContents({ metadata, subsets = [] }: Endpoints): Map<string, SliceContent> {
  const labels: Labels = {
    ...metadata.labels,
    [SERVICE_NAME_LABEL]: metadata.name,
    [MANAGED_BY_LABEL]: MIRRORING_CONTROLLER,
  };
  const contents = new Map<string, SliceContent>();
  for (const { addresses = [], notReadyAddresses = [], ports: own = [] } of subsets) {
    const ports = own.map(slicePort);
    const listed = [
      ...addresses.map((address) => mirroredEndpoint(address, true)),
      ...notReadyAddresses.map((address) => mirroredEndpoint(address, false)),
    ];
    for (const endpoint of listed) {
      const addressType = endpoint.addresses[0]?.includes(':') ? 'IPv6' : 'IPv4';
      const key = groupKey(addressType, ports);
      const content = contents.get(key) ?? { addressType, ports, endpoints: [], labels };
      contents.set(key, content);
      if (content.endpoints.length < MAX_MIRRORED) content.endpoints.push(endpoint);
    }
  }
  return contents;
}

function mirroredEndpoint({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(nodeName ? { nodeName } : {}),
    ...(targetRef ? { targetRef } : {}),
  };
}

function slicePort({ name = '', port = 0, protocol = 'TCP', appProtocol }: EndpointPort): EndpointPort {
  return { name, port, protocol, ...(appProtocol ? { appProtocol } : {}) };
}

function groupKey(addressType: string, ports: readonly EndpointPort[]): string {
  return `${addressType} ${portsKey(ports)}`;
}

function isOwnedBy({ metadata }: EndpointSlice, endpoints: Endpoints): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === endpoints.metadata.uid);
}
