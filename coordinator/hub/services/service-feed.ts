/**
 * The endpoints of one Service, kept current by differences of its EndpointSlices. A feed exists while a host is
 * subscribed, or while the Service is sent to hosts that did not ask for it.
 */
import type { EndpointState, RemoteEndpoint } from '../../../shared/kube/services/service-view.js';
import {
  type RankedEndpoint,
  rankHash,
  type SubsetRules,
  subsetRulesOf,
} from '../../decisions/services/endpoint-subset.js';
import { placeKey, type ServiceRules, type SliceMember } from '../../decisions/services/slice-endpoints.js';

/** A host's subscription, as its feed uses it. */
interface FeedSubscription {
  readonly node: string;
  /** True if the host has a view of the Service. */
  readonly isKnown: boolean;
  /** An endpoint of the subset has another state. */
  stateChanged(state: EndpointState): void;
  offer(endpoint: FeedEndpoint): void;
  chooseAgain(): void;
  reset(): void;
  refill(): void;
}

/** An endpoint of a feed. Mutable: hundreds of subscriptions refer to it. */
export interface FeedEndpoint extends RankedEndpoint, RemoteEndpoint {
  /** Members of slices with this place, by state. All 0: the endpoint is gone. */
  readonly members: { ready: number; terminating: number; notReady: number };
  /** When the endpoint lost its last member, in monotonic ms. */
  goneAt: number | undefined;
  /** Subscriptions whose subset contains the endpoint. */
  readonly watchers: FeedSubscription[];
}

/**
 * Time for which a gone endpoint keeps its place in subsets, as not ready. A rolling update replaces each Pod by one with
 * the same place. Without this time, each replacement would reshuffle the subsets of 64 hosts twice.
 */
const GONE_MS = 30_000;

/** Ids are positive 31-bit numbers. They depend only on the place, so they are valid in the next session too. */
const ID_MASK = 0x7fffffff;

export class ServiceFeed {
  readonly key: string;
  /** Key of the Service. */
  readonly service: string;
  /** Set if the feed contains only the endpoint with this hostname. */
  readonly hostname: string | undefined;
  #rules: ServiceRules | undefined;
  subsetRules: SubsetRules | undefined;
  readonly subscriptions = new Set<FeedSubscription>();
  /** Subscriptions with too few ready endpoints. */
  readonly short = new Set<FeedSubscription>();
  /** True if an endpoint became ready since the short subscriptions were checked. */
  #hasNewReady = false;
  readonly #endpoints = new Map<string, FeedEndpoint>();
  readonly #membersBySlice = new Map<
    string,
    { node: string; endpoint: FeedEndpoint | undefined; state: SliceMember['state'] }[]
  >();
  /** By node: members of all slices, also those that other hosts do not reach. */
  readonly #membersOn = new Map<string, number>();
  readonly #ids = new Set<number>();
  readonly #gone = new Set<FeedEndpoint>();

  constructor(key: string) {
    const [namespace = '', name = '', hostname] = key.split('/');
    this.key = key;
    this.service = `${namespace}/${name}`;
    this.hostname = hostname;
  }

  /** Undefined while the Service, or its only endpoint, does not exist. */
  get rules(): ServiceRules | undefined {
    return this.hostname !== undefined && this.#endpoints.size === 0 ? undefined : this.#rules;
  }

  /** Undefined while the Service does not exist. */
  get loadedRules(): ServiceRules | undefined {
    return this.#rules;
  }

  /** All endpoints except those that are gone. */
  *endpoints(): Generator<FeedEndpoint> {
    for (const endpoint of this.#endpoints.values()) if (endpoint.goneAt === undefined) yield endpoint;
  }

  get size(): number {
    return this.#endpoints.size - this.#gone.size;
  }

  get hasGone(): boolean {
    return this.#gone.size > 0;
  }

  /** True if a slice has an endpoint on the node, also one that other hosts do not reach. */
  runsOn(node: string): boolean {
    return this.#membersOn.has(node);
  }

  /** Forgets all endpoints, because the Service's rules have changed. Subscriptions choose again. */
  reset(rules: ServiceRules | undefined): void {
    this.#rules = rules;
    this.subsetRules = rules && subsetRulesOf(rules);
    const collections = [this.#endpoints, this.#membersBySlice, this.#membersOn, this.#ids, this.#gone];
    for (const each of [...collections, this.short]) each.clear();
    for (const subscription of this.subscriptions) subscription.reset();
  }

  /** Replaces the members of one slice. Calls the subscriptions that are affected. */
  setSlice(slice: string, members: readonly SliceMember[], nowMs: number): void {
    const touched = new Set<FeedEndpoint>();
    const added: FeedEndpoint[] = [];
    for (const { node, endpoint, state } of this.#membersBySlice.get(slice) ?? []) {
      this.#count(node, -1);
      if (!endpoint) continue;
      endpoint.members[state] -= 1;
      touched.add(endpoint);
    }
    const current = members.map(({ node, state, place }) => {
      this.#count(node, 1);
      if (!place) return { node, state, endpoint: undefined };
      const key = placeKey(place);
      const known = this.#endpoints.get(key);
      const endpoint = known ?? this.#create(key, place);
      if (!known) added.push(endpoint);
      endpoint.members[state] += 1;
      touched.add(endpoint);
      return { node, state, endpoint };
    });
    if (current.length > 0) this.#membersBySlice.set(slice, current);
    else this.#membersBySlice.delete(slice);
    for (const endpoint of touched) this.#settle(endpoint, nowMs);
    for (const endpoint of added) this.#offer(endpoint);
  }

  /** Removes endpoints that have been gone for long. Their subscriptions choose again. */
  sweep(nowMs: number): void {
    for (const endpoint of this.#gone) {
      if (endpoint.goneAt === undefined || nowMs - endpoint.goneAt < GONE_MS) continue;
      this.#gone.delete(endpoint);
      this.#ids.delete(endpoint.id);
      this.#endpoints.delete(placeKey(endpoint));
      for (const subscription of [...endpoint.watchers]) subscription.chooseAgain();
    }
  }

  /** Returns the subscriptions with too few ready endpoints, if an endpoint has become ready since the last call. */
  takeShort(): Iterable<FeedSubscription> {
    if (!this.#hasNewReady) return [];
    this.#hasNewReady = false;
    return this.short;
  }

  #count(node: string, change: 1 | -1): void {
    const count = (this.#membersOn.get(node) ?? 0) + change;
    if (count > 0) this.#membersOn.set(node, count);
    else this.#membersOn.delete(node);
  }

  #create(key: string, place: NonNullable<SliceMember['place']>): FeedEndpoint {
    const hash = rankHash(key);
    let id = hash & ID_MASK;
    while (this.#ids.has(id)) id = (id + 1) & ID_MASK;
    this.#ids.add(id);
    const members = { ready: 0, terminating: 0, notReady: 0 };
    const endpoint = {
      ...place,
      id,
      hash,
      members,
      state: 'notReady' as const,
      goneAt: undefined,
      watchers: [],
    };
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }

  /** Computes the state of an endpoint whose members have changed. Two Pods of a handover can share one place. */
  #settle(endpoint: FeedEndpoint, nowMs: number): void {
    const { members } = endpoint;
    const wasGone = endpoint.goneAt !== undefined;
    const isGone = members.ready + members.terminating + members.notReady === 0;
    if (isGone && !wasGone) {
      endpoint.goneAt = nowMs;
      this.#gone.add(endpoint);
    } else if (!isGone && wasGone) {
      endpoint.goneAt = undefined;
      this.#gone.delete(endpoint);
      this.#offer(endpoint);
    }
    const state = members.ready > 0 ? 'ready' : members.terminating > 0 ? 'terminating' : 'notReady';
    if (state === endpoint.state) return;
    endpoint.state = state;
    if (state === 'ready') this.#hasNewReady = true;
    for (const subscription of endpoint.watchers) subscription.stateChanged(state);
  }

  #offer(endpoint: FeedEndpoint): void {
    for (const subscription of this.subscriptions) subscription.offer(endpoint);
  }
}
