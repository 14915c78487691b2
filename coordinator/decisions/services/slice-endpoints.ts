/** The endpoints that an EndpointSlice adds to a Service, as other hosts use them. */
import { isIP } from 'node:net';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Endpoint, EndpointSlice } from '../../../shared/kube/services/endpoint-types.js';
import { podEndpoint } from '../../../shared/kube/services/pod-endpoint.js';
import {
  type EndpointState,
  endpointViewName,
  type ServiceEndpoint,
  type ServiceView,
} from '../../../shared/kube/services/service-view.js';

/** A view without endpoints, which is equal for all hosts. */
export type ServiceRules = Omit<ServiceView, 'remote'>;

/** Where an endpoint is. Its state changes often, the rest with its Pod's place. */
type EndpointPlace = Omit<ServiceEndpoint, 'state'>;

export interface SliceMember {
  /** Name of the node that runs the endpoint; "" if unknown. */
  node: string;
  state: EndpointState;
  /** Undefined if only clients on the endpoint's own host reach it. */
  place: EndpointPlace | undefined;
}

/** Limits of the link for user-written slices. A view above them would break the link of every host that asks. */
const MAX_ADDRESSES = 8;
const MAX_ADDRESS = 64;
const MAX_NAME = 253;
const GREATEST_PORT = 65_535;

/** Returns the members of a slice. `podOf` returns the Pod that an endpoint names. */
export function sliceMembers(
  rules: ServiceRules,
  slice: EndpointSlice,
  podOf: (ref: ObjectRef) => Pod | undefined,
): SliceMember[] {
  // kube-proxy ignores slices of host names too (pkg/proxy/endpointslicecache.go).
  if (slice.addressType === 'FQDN') return [];
  const ports = portsOf(rules, slice);
  return (slice.endpoints ?? []).map((endpoint) => ({
    node: nameIn(endpoint.nodeName),
    state: stateOf(endpoint),
    place: placeOf(rules, endpoint, ports, podOf),
  }));
}

/** Returns the rules of a view that contains only one endpoint. It has no address and no ports of its own. */
export function endpointRules(rules: ServiceRules, hostname: string): ServiceRules {
  const { selector: _, relayPorts: __, ...kept } = rules;
  return {
    ...kept,
    name: endpointViewName(rules.name, hostname),
    addressing: { type: 'headless' },
    ports: rules.ports.map((port) => ({ ...port, nodePort: 0 })),
  };
}

/** Returns the members with this hostname. A slice lacks names of nodes that are no DNS label. */
export function membersNamed(
  hostname: string,
  rules: ServiceRules,
  slice: EndpointSlice,
  podOf: (ref: ObjectRef) => Pod | undefined,
): SliceMember[] {
  const isNamed = (text = '') => text.toLowerCase() === hostname;
  const endpoints = (slice.endpoints ?? []).filter(
    (endpoint) => isNamed(endpoint.hostname) || isNamed(endpoint.nodeName),
  );
  const members = sliceMembers(rules, { ...slice, endpoints }, podOf);
  return members.filter(({ place }) => isNamed(place?.hostname));
}

/** Returns a text that is equal for equal places, so that a Pod's successor on the same node takes over its place. */
export function placeKey({ node, hostname, zone, addresses, ports }: EndpointPlace): string {
  return [node, hostname, zone, addresses.join(), ports.join()].join('|');
}

/** An absent `ready` counts as true, and an absent `serving` as `ready` (staging/src/k8s.io/api/discovery/v1). */
function stateOf({ conditions = {} }: Endpoint): EndpointState {
  const { ready = true, serving = ready, terminating = false } = conditions;
  if (ready) return 'ready';
  return terminating && serving ? 'terminating' : 'notReady';
}

/** Ports of a slice and of its Service belong together by name and protocol. */
function portsOf(rules: ServiceRules, slice: EndpointSlice): number[] {
  return rules.ports.map(({ name, protocol }) => {
    const same = (slice.ports ?? []).find(
      (each) => (each.name ?? '') === name && (each.protocol ?? 'TCP') === protocol,
    );
    return validPort(same?.port);
  });
}

function placeOf(
  rules: ServiceRules,
  endpoint: Endpoint,
  ports: number[],
  podOf: (ref: ObjectRef) => Pod | undefined,
): EndpointPlace | undefined {
  const { targetRef, nodeName, hostname, zone } = endpoint;
  const named = { node: nameIn(nodeName), hostname: nameIn(hostname), zone: nameIn(zone) };
  const addresses = endpoint.addresses.filter(isSendable).slice(0, MAX_ADDRESSES);
  if (addresses.length === 0) return undefined;
  if (rules.selector === undefined || targetRef?.kind !== 'Pod') return { ...named, addresses, ports };
  const pod = podOf({ namespace: rules.namespace, name: targetRef.name ?? '' });
  // The slice is about to lose the endpoint of a deleted Pod.
  if (!pod) return undefined;
  const found = podEndpoint(rules, pod, rules.relayPorts);
  if (found?.reach !== 'fleet') return undefined;
  // The slice lacks names of nodes that are no DNS label.
  return { ...named, hostname: nameIn(found.hostname), addresses, ports };
}

/** A stored IPv6 address can have a zone of any length. */
function isSendable(address: string): boolean {
  return isIP(address) !== 0 && address.length <= MAX_ADDRESS;
}

function nameIn(text = ''): string {
  return text.length > MAX_NAME ? '' : text;
}

function validPort(port = 0): number {
  return Number.isInteger(port) && port > 0 && port <= GREATEST_PORT ? port : 0;
}
