/**
 * Decides which EndpointSlices of a Service change (staging/src/k8s.io/endpointslice/reconciler.go). One changed endpoint
 * rewrites one slice. Slices are not repacked while their endpoints stay.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import {
  type Endpoint,
  type EndpointPort,
  type EndpointSlice,
  HEADLESS_LABEL,
  MANAGED_BY_LABEL,
  SERVICE_NAME_LABEL,
} from '../../../shared/kube/services/endpoint-types.js';
import { HEADLESS, type Service } from '../../../shared/kube/services/service-types.js';
import { type DesiredEndpoint, endpointKey } from './listed-endpoint.js';

/** Value of the label `managed-by` of the controller's slices, as in upstream. */
export const SLICE_CONTROLLER = 'endpointslice-controller.k8s.io';
/** Most endpoints of a slice (kube-controller-manager --max-endpoints-per-slice). */
export const MAX_ENDPOINTS = 100;

export interface SliceInput {
  service: Service;
  /** Slices that may change. Slices of an earlier Service with this name are deleted. */
  existing: readonly EndpointSlice[];
  /** The Service's other slices. They list what they should, and may receive further endpoints. */
  spare: readonly EndpointSlice[];
  /** By `endpointKey`: all endpoints that `existing` should list, and new ones. */
  desired: ReadonlyMap<string, DesiredEndpoint>;
  maxEndpoints?: number;
}

export interface SliceContent {
  addressType: string;
  ports: readonly EndpointPort[];
  endpoints: Endpoint[];
  labels: Labels;
}

export interface SliceChanges {
  create: SliceContent[];
  update: { slice: EndpointSlice; content: SliceContent }[];
  remove: EndpointSlice[];
}

/** Slices and endpoints with equal ports. */
interface PortGroup {
  addressType: string;
  ports: readonly EndpointPort[];
  existing: EndpointSlice[];
  spare: EndpointSlice[];
  desired: Map<string, Endpoint>;
}

/** Returns the writes after which the slices list exactly the desired endpoints. */
export function sliceChanges(input: SliceInput): SliceChanges {
  const { service, existing, spare, maxEndpoints = MAX_ENDPOINTS } = input;
  const labels = sliceLabels(service);
  const isOwned = (slice: EndpointSlice) => isOwnedBy(slice, service);
  const changes: SliceChanges = {
    create: [],
    update: [],
    remove: existing.filter((slice) => !isOwned(slice)),
  };
  for (const group of groupByPorts(existing.filter(isOwned), spare, input.desired))
    planGroup(group, labels, maxEndpoints, changes);
  addPlaceholder(existing.length + spare.length, labels, changes, isOwned);
  reuseRemoved(changes, isOwned);
  // The garbage collector deletes the slices of a terminating Service, and must not find new ones.
  if (service.metadata.deletionTimestamp) changes.create = [];
  return changes;
}

function groupByPorts(
  existing: readonly EndpointSlice[],
  spare: readonly EndpointSlice[],
  desired: ReadonlyMap<string, DesiredEndpoint>,
): Iterable<PortGroup> {
  const groups = new Map<string, PortGroup>();
  const groupOf = (addressType: string, ports: readonly EndpointPort[]): PortGroup => {
    const key = `${addressType} ${portsKey(ports)}`;
    const present = groups.get(key);
    if (present) return present;
    const group: PortGroup = { addressType, ports, existing: [], spare: [], desired: new Map() };
    groups.set(key, group);
    return group;
  };
  for (const slice of existing) groupOf(slice.addressType, slice.ports ?? []).existing.push(slice);
  for (const slice of spare) groupOf(slice.addressType, slice.ports ?? []).spare.push(slice);
  for (const [key, { addressType, ports, endpoint }] of desired)
    groupOf(addressType, ports).desired.set(key, endpoint);
  return groups.values();
}

/** The order of ports does not matter. */
export function portsKey(ports: readonly EndpointPort[]): string {
  return ports
    .map(({ name = '', port = 0, protocol = 'TCP', appProtocol = '' }) =>
      [name, port, protocol, appProtocol].join('|'),
    )
    .sort()
    .join();
}

interface SlicePlan {
  slice: EndpointSlice;
  endpoints: Endpoint[];
  outcome: 'same' | 'changed' | 'emptied';
}

/** See reconcileByPortMapping. */
function planGroup(group: PortGroup, labels: Labels, maxEndpoints: number, changes: SliceChanges): void {
  const { existing, spare, desired, addressType, ports } = group;
  if (desired.size === 0 && spare.length === 0) {
    changes.remove.push(...existing);
    return;
  }
  const left = new Map(desired);
  const plans = [
    ...existing.map((slice) => planSlice(slice, left, labels)),
    ...spare.map((slice): SlicePlan => ({ slice, endpoints: slice.endpoints ?? [], outcome: 'same' })),
  ];
  const changed = plans.filter(({ outcome }) => outcome === 'changed');
  changed.sort((one, other) => other.endpoints.length - one.endpoints.length);
  for (const plan of changed) fill(plan.endpoints, left, maxEndpoints);
  while (left.size > 0) {
    const plan = left.size < maxEndpoints ? fullestWithRoom(plans, left.size, maxEndpoints) : undefined;
    const endpoints = plan ? [...plan.endpoints] : [];
    fill(endpoints, left, maxEndpoints);
    if (plan) Object.assign(plan, { endpoints, outcome: 'changed' });
    else changes.create.push({ addressType, ports, endpoints, labels });
  }
  for (const { slice, endpoints, outcome } of plans) {
    if (outcome === 'emptied') changes.remove.push(slice);
    const content = { addressType, ports: slice.ports ?? [], endpoints, labels };
    if (outcome === 'changed') changes.update.push({ slice, content });
  }
}

/** Keeps and updates the endpoints that are still desired, and deletes them from `left`. */
function planSlice(slice: EndpointSlice, left: Map<string, Endpoint>, labels: Labels): SlicePlan {
  const before = slice.endpoints ?? [];
  const endpoints: Endpoint[] = [];
  let isSame = true;
  for (const listed of before) {
    const key = endpointKey(listed);
    const wanted = left.get(key);
    if (wanted) {
      endpoints.push(wanted);
      left.delete(key);
    }
    isSame &&= wanted !== undefined && (wanted === listed || isDeepStrictEqual(wanted, listed));
  }
  if (isSame && hasLabels(slice, labels)) return { slice, endpoints, outcome: 'same' };
  const isEmptied = endpoints.length === 0 && before.length > 0;
  return { slice, endpoints, outcome: isEmptied ? 'emptied' : 'changed' };
}

function hasLabels({ metadata }: EndpointSlice, labels: Labels): boolean {
  return isDeepStrictEqual(metadata.labels, labels);
}

/** Moves endpoints from `left` until the slice is full. */
function fill(endpoints: Endpoint[], left: Map<string, Endpoint>, maxEndpoints: number): void {
  for (const [key, endpoint] of left) {
    if (endpoints.length >= maxEndpoints) return;
    endpoints.push(endpoint);
    left.delete(key);
  }
}

/** Returns the unchanged slice that is closest to full with `count` more endpoints (getSliceToFill). */
function fullestWithRoom(
  plans: readonly SlicePlan[],
  count: number,
  maxEndpoints: number,
): SlicePlan | undefined {
  let best: SlicePlan | undefined;
  for (const plan of plans) {
    if (plan.outcome !== 'same' || plan.endpoints.length + count > maxEndpoints) continue;
    if (!best || plan.endpoints.length > best.endpoints.length) best = plan;
  }
  return best;
}

/** A Service without endpoints has one empty slice, so that clients can see that the controller has looked at it. */
function addPlaceholder(
  present: number,
  labels: Labels,
  changes: SliceChanges,
  isOwned: (slice: EndpointSlice) => boolean,
): void {
  const { create, remove } = changes;
  if (create.length > 0 || remove.length < present) return;
  const at = remove.findIndex(
    (slice) =>
      isOwned(slice) &&
      slice.addressType === 'IPv4' &&
      !slice.ports?.length &&
      !slice.endpoints?.length &&
      hasLabels(slice, labels),
  );
  if (at >= 0 && remove.length === 1) remove.splice(at, 1);
  else create.push({ addressType: 'IPv4', ports: [], endpoints: [], labels });
}

/** Updates a slice that would be deleted instead of creating another one. The address type of a slice is immutable. */
function reuseRemoved(changes: SliceChanges, isOwned: (slice: EndpointSlice) => boolean): void {
  const { create, update } = changes;
  changes.remove = changes.remove.filter((slice) => {
    const content = create.at(-1);
    if (!content || !isOwned(slice) || slice.addressType !== content.addressType) return true;
    create.pop();
    update.push({ slice, content });
    return false;
  });
}

function isOwnedBy({ metadata }: EndpointSlice, service: Service): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === 'Service' && apiVersion === 'v1',
  );
}

/** Labels of the Service and the controller's own, which a Service cannot override (setEndpointSliceLabels). */
export function sliceLabels({ metadata, spec }: Service): Labels {
  const { [HEADLESS_LABEL]: _, ...own } = metadata.labels ?? {};
  return {
    ...own,
    ...(hasAddress(spec?.clusterIP) ? {} : { [HEADLESS_LABEL]: '' }),
    [SERVICE_NAME_LABEL]: metadata.name,
    [MANAGED_BY_LABEL]: SLICE_CONTROLLER,
  };
}

/** Returns true for the address of a Service that is not headless (pkg/apis/core/v1/helper IsServiceIPSet). */
export function hasAddress(clusterIP: string | undefined): boolean {
  return clusterIP !== undefined && clusterIP !== '' && clusterIP !== HEADLESS;
}
