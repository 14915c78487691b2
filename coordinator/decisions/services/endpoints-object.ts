/**
 * Derives the Endpoints of a Service from its EndpointSlices (pkg/controller/endpoint/endpoints_controller.go,
 * pkg/api/v1/endpoints RepackSubsets). Upstream derives both from Pods; the result is the same.
 */
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import {
  type Endpoint,
  type EndpointAddress,
  type EndpointPort,
  type EndpointSlice,
  type EndpointSubset,
  HEADLESS_LABEL,
} from '../../../shared/kube/services/endpoint-types.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import { hasAddress } from './slice-changes.js';

/** Label of Endpoints that the controller writes. */
export const ENDPOINTS_MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
export const ENDPOINTS_CONTROLLER = 'endpoint-controller';
/** Annotation of Endpoints that lack some of the addresses. */
export const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';
export const TRUNCATED = 'truncated';
/** Most addresses of an Endpoints object. */
const MAX_ADDRESSES = 1_000;

export interface EndpointsContent {
  subsets: EndpointSubset[];
  isTruncated: boolean;
  labels: Labels;
}

/** Address of one Pod, and whether it receives traffic. */
interface Listed {
  address: EndpointAddress;
  isReady: boolean;
}

/** `slices`: those of the controller for this Service. */
export function endpointsContent(service: Service, slices: readonly EndpointSlice[]): EndpointsContent {
  const hasPorts = (service.spec?.ports ?? []).length > 0;
  const subsets = repack(slices, hasPorts);
  const isTruncated = truncate(subsets);
  return { subsets, isTruncated, labels: endpointsLabels(service) };
}

/** For each port, all addresses that have it. Ports with the same addresses share a subset. */
function repack(slices: readonly EndpointSlice[], hasPorts: boolean): EndpointSubset[] {
  const byPort = new Map<string, { port: EndpointPort | undefined; listed: Listed[] }>();
  for (const { ports, endpoints } of slices) {
    const listed = (endpoints ?? []).flatMap(listedAddresses);
    // A headless Service may have no ports. A Pod without the Service's ports has no address in Endpoints.
    const own = hasPorts ? (ports ?? []) : [undefined];
    for (const port of own) {
      const key = portText(port);
      const present = byPort.get(key);
      if (present) present.listed.push(...listed);
      else byPort.set(key, { port, listed: [...listed] });
    }
  }
  const groups = new Map<string, { ports: EndpointPort[]; listed: Listed[] }>();
  for (const { port, listed } of byPort.values()) {
    if (listed.length === 0) continue;
    listed.sort(compareListed);
    const key = listed.map(({ address, isReady }) => `${addressKey(address)} ${isReady}`).join();
    const group = groups.get(key) ?? { ports: [], listed };
    groups.set(key, group);
    if (port) group.ports.push(port);
  }
  return [...groups.values()]
    .map(subsetOf)
    .sort((one, other) => compareText(subsetText(one), subsetText(other)));
}

/** Terminating Pods are left out unless unready addresses are published, which makes them ready. */
function listedAddresses({ addresses, conditions, hostname, nodeName, targetRef }: Endpoint): Listed[] {
  const isReady = conditions?.ready !== false;
  const [ip] = addresses;
  if (ip === undefined || (conditions?.terminating && !isReady)) return [];
  const address: EndpointAddress = {
    ip,
    ...(hostname ? { hostname } : {}),
    ...(nodeName ? { nodeName } : {}),
    ...(targetRef ? { targetRef } : {}),
  };
  return [{ address, isReady }];
}

function subsetOf({ ports, listed }: { ports: EndpointPort[]; listed: Listed[] }): EndpointSubset {
  const ready = listed.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReady = listed.filter(({ isReady }) => !isReady).map(({ address }) => address);
  return {
    ...(ready.length > 0 ? { addresses: ready } : {}),
    ...(notReady.length > 0 ? { notReadyAddresses: notReady } : {}),
    ...(ports.length > 0 ? { ports: ports.map(endpointsPort) } : {}),
  };
}

/** An unnamed port of Endpoints has no name at all. */
function endpointsPort({ name, port = 0, protocol = 'TCP', appProtocol }: EndpointPort): EndpointPort {
  return { ...(name ? { name } : {}), port, protocol, ...(appProtocol ? { appProtocol } : {}) };
}

function portText(port: EndpointPort | undefined): string {
  if (!port) return '';
  const { name = '', port: number = 0, protocol = 'TCP', appProtocol = '' } = port;
  return [name, number, protocol, appProtocol].join('|');
}

function subsetText({ ports = [] }: EndpointSubset): string {
  return ports.map(portText).join();
}

function addressKey({ ip, targetRef }: EndpointAddress): string {
  return `${ip} ${targetRef?.uid ?? ''}`;
}

/** By address, then by uid of the Pod (LessEndpointAddress). */
function compareListed({ address: one }: Listed, { address: other }: Listed): number {
  return compareText(one.ip, other.ip) || compareText(one.targetRef?.uid ?? '', other.targetRef?.uid ?? '');
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Shortens the subsets in place to 1,000 addresses, ready ones first and in proportion to their number in each subset.
 * Returns true if addresses were left out (truncateEndpoints).
 */
function truncate(subsets: EndpointSubset[]): boolean {
  const count = (field: 'addresses' | 'notReadyAddresses') =>
    subsets.reduce((sum, subset) => sum + (subset[field]?.length ?? 0), 0);
  const ready = count('addresses');
  const notReady = count('notReadyAddresses');
  if (ready + notReady <= MAX_ADDRESSES) return false;
  const isReadyShortened = ready > MAX_ADDRESSES;
  const field = isReadyShortened ? 'addresses' : 'notReadyAddresses';
  const room = isReadyShortened ? MAX_ADDRESSES : MAX_ADDRESSES - ready;
  const total = isReadyShortened ? ready : notReady;
  let left = room;
  for (const subset of subsets) {
    if (isReadyShortened) delete subset.notReadyAddresses;
    const all = subset[field] ?? [];
    const kept = all.slice(0, Math.min(left, Math.ceil((all.length / total) * room)));
    left -= kept.length;
    if (kept.length > 0) subset[field] = kept;
    else delete subset[field];
  }
  return true;
}

function endpointsLabels({ metadata, spec }: Service): Labels {
  const { [HEADLESS_LABEL]: _, ...own } = metadata.labels ?? {};
  return {
    ...own,
    [ENDPOINTS_MANAGED_BY]: ENDPOINTS_CONTROLLER,
    ...(hasAddress(spec?.clusterIP) ? {} : { [HEADLESS_LABEL]: '' }),
  };
}
