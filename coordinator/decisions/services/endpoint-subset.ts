/**
 * Which endpoints of a Service a host receives: a bounded subset by rendezvous hashing, as of Nomad's `choose`. Each host
 * gets another subset, so that clients spread over all endpoints. An endpoint that is added or removed changes few subsets.
 */
import { type EndpointState, VIEW_SIZE } from '../../../shared/kube/services/service-view.js';
import type { ServiceRules } from './slice-endpoints.js';

/** Ready endpoints that a host needs at least. With fewer, it receives ready endpoints from outside its subset. */
export const ENOUGH_READY = 8;

/** An endpoint as its rank needs it. */
export interface RankedEndpoint {
  node: string;
  zone: string;
  /** `rankHash` of a text that identifies the endpoint. */
  hash: number;
  state: EndpointState;
}

/** The host that receives the subset. */
export interface EndpointViewer {
  node: string;
  /** "" if unknown. */
  zone: string;
  /** `rankHash` of the node's name. */
  hash: number;
}

/** Which endpoints a host may have at all. */
export interface SubsetRules {
  /** False: the host uses only its own endpoints. */
  includesOthers: boolean;
  /** False: the host derives the endpoints of its own Pods itself. */
  includesOwn: boolean;
  /** Only endpoints of the host's zone. */
  strictZone: boolean;
}

/** Returns which endpoints of a Service a host may have. */
export function subsetRulesOf({ addressing, ports, selector, traffic }: ServiceRules): SubsetRules {
  const isForwarded = traffic.external === 'Cluster' && ports.some(({ nodePort }) => nodePort > 0);
  return {
    includesOthers: isForwarded || traffic.internal === 'Cluster' || addressing.type === 'headless',
    includesOwn: selector === undefined,
    strictZone: traffic.strictZone,
  };
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Greater than every rendezvous hash. */
const NEARER = 2 ** 32;

/** Returns a 32-bit FNV-1a hash. */
export function rankHash(text: string): number {
  let hash = FNV_OFFSET;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash >>> 0;
}

/** Returns the rank of an endpoint for a host; greater ranks are chosen first. Endpoints of the host's zone are first. */
export function rankOf(viewer: EndpointViewer, endpoint: RankedEndpoint): number {
  // The finalizer of MurmurHash3 spreads the bits of both hashes.
  let mix = viewer.hash ^ Math.imul(endpoint.hash, 0x9e3779b1);
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  const rank = (mix ^ (mix >>> 16)) >>> 0;
  return viewer.zone !== '' && viewer.zone === endpoint.zone ? rank + NEARER : rank;
}

export function isEligible(viewer: EndpointViewer, endpoint: RankedEndpoint, rules: SubsetRules): boolean {
  const isOwn = endpoint.node === viewer.node;
  if (isOwn ? !rules.includesOwn : !rules.includesOthers) return false;
  return !rules.strictZone || endpoint.zone === viewer.zone;
}

/** Returns at most `size` eligible endpoints, in descending order of rank. The state of endpoints has no influence. */
export function chooseSubset<T extends RankedEndpoint>(
  viewer: EndpointViewer,
  endpoints: Iterable<T>,
  rules: SubsetRules,
  size = VIEW_SIZE,
): T[] {
  const chosen: T[] = [];
  for (const endpoint of endpoints) {
    if (isEligible(viewer, endpoint, rules)) insertRanked(viewer, chosen, endpoint, size);
  }
  return chosen;
}

/**
 * Inserts an eligible endpoint into a subset if its rank is high enough. Returns the endpoint that left the subset: the
 * given one if it was not inserted, another one if the subset was full.
 */
export function insertRanked<T extends RankedEndpoint>(
  viewer: EndpointViewer,
  chosen: T[],
  endpoint: T,
  size = VIEW_SIZE,
): T | undefined {
  const rank = rankOf(viewer, endpoint);
  const last = chosen.at(-1);
  if (last && chosen.length >= size && rankOf(viewer, last) >= rank) return endpoint;
  let [low, high] = [0, chosen.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = chosen[middle];
    if (other && rankOf(viewer, other) >= rank) low = middle + 1;
    else high = middle;
  }
  chosen.splice(low, 0, endpoint);
  return chosen.length > size ? chosen.pop() : undefined;
}

/**
 * Returns ready endpoints from outside the subset, if it has too few that are ready. Otherwise a host whose whole subset
 * fails would have no endpoint while others are ready.
 */
export function chooseReserve<T extends RankedEndpoint>(
  viewer: EndpointViewer,
  endpoints: Iterable<T>,
  chosen: readonly T[],
  rules: SubsetRules,
): T[] {
  const missing = ENOUGH_READY - countReady(chosen);
  if (missing <= 0) return [];
  const present = new Set<T>(chosen);
  const others = [...endpoints].filter((each) => each.state === 'ready' && !present.has(each));
  return chooseSubset(viewer, others, rules, missing);
}

export function countReady(endpoints: readonly RankedEndpoint[]): number {
  return endpoints.reduce((sum, { state }) => (state === 'ready' ? sum + 1 : sum), 0);
}
