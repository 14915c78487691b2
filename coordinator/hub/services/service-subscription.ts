/** One Service for one host: the chosen endpoints, and what the host has received. */
import type {
  EndpointState,
  RemoteEndpoint,
  ServiceView,
} from '../../../shared/kube/services/service-view.js';
import type { ChangedEndpoints } from '../../../shared/link/messages/link-messages.js';
import { serviceViewDigest } from '../../../shared/link/service-view-digest.js';
import { endpointDifference } from '../../decisions/services/endpoint-changes.js';
import {
  chooseReserve,
  chooseSubset,
  countReady,
  ENOUGH_READY,
  type EndpointViewer,
  insertRanked,
  isEligible,
} from '../../decisions/services/endpoint-subset.js';
import type { ServiceRules } from '../../decisions/services/slice-endpoints.js';
import type { FeedEndpoint, ServiceFeed } from './service-feed.js';

/** `unsent`: the host must receive the Service whole. */
type Sent =
  | { state: 'unsent' }
  | { state: 'absent' }
  | { state: 'view'; endpoints: readonly FeedEndpoint[]; states: Uint8Array };

/** `later`: changes may be gathered for longer. */
export type Urgency = 'soon' | 'later';
type MarkDirty = (subscription: ServiceSubscription, urgency: Urgency) => void;

/** What the host receives next. */
type NextMessage =
  | { type: 'nothing' }
  | { type: 'absent' }
  | { type: 'view'; view: ServiceView }
  | { type: 'changes'; changes: ChangedEndpoints };

/** In the order of their codes in `Sent`. */
const STATES: readonly EndpointState[] = ['ready', 'terminating', 'notReady'];
const UNSENT: Sent = { state: 'unsent' };
const ABSENT: Sent = { state: 'absent' };
const NOTHING: NextMessage = { type: 'nothing' };

export class ServiceSubscription {
  readonly feed: ServiceFeed;
  /** True if the host asked for the Service. */
  isRequested = false;
  /** True if the host receives the Service without asking. */
  isUnrequested = false;
  readonly #viewer: EndpointViewer;
  readonly #markDirty: MarkDirty;
  /** Sorted by rank. Undefined until it is needed, and after changes that require a new choice. */
  #chosen: FeedEndpoint[] | undefined;
  /** Ready endpoints from outside the subset. */
  #reserve: FeedEndpoint[] = [];
  #sent: Sent = UNSENT;

  constructor(feed: ServiceFeed, viewer: EndpointViewer, markDirty: MarkDirty) {
    this.feed = feed;
    this.#viewer = viewer;
    this.#markDirty = markDirty;
    feed.subscriptions.add(this);
  }

  get node(): string {
    return this.#viewer.node;
  }

  /** True if the host has a view of the Service. */
  get isKnown(): boolean {
    return this.#sent.state === 'view';
  }

  /** Records the current view as sent if it has this digest. Returns whether it has. */
  acknowledge(digest: string): boolean {
    const { rules } = this.feed;
    if (!rules || digest === '') return false;
    const endpoints = this.#current();
    if (serviceViewDigest(viewOf(rules, endpoints)) !== digest) return false;
    this.#recordSent(endpoints);
    return true;
  }

  /** Makes the next message a whole view. */
  resend(): void {
    this.#sent = UNSENT;
    this.#markDirty(this, 'soon');
  }

  /** An endpoint has another state. One more ready endpoint is not urgent for a host that has enough of them. */
  stateChanged(state: EndpointState): void {
    const isUrgent = state !== 'ready' || this.feed.short.has(this);
    this.#markDirty(this, isUrgent ? 'soon' : 'later');
  }

  /** The host no longer needs the Service. */
  interestEnded(): void {
    this.#markDirty(this, 'soon');
  }

  /** A new endpoint: takes it if its rank is high enough. */
  offer(endpoint: FeedEndpoint): void {
    const rules = this.feed.subsetRules;
    // The first endpoint ends the absence of a view that contains only one.
    if (this.#sent.state === 'absent') this.#markDirty(this, 'soon');
    if (!this.#chosen || !rules || !isEligible(this.#viewer, endpoint, rules)) return;
    if (endpoint.watchers.includes(this)) return;
    const left = insertRanked(this.#viewer, this.#chosen, endpoint);
    if (left === endpoint) return;
    endpoint.watchers.push(this);
    if (left) this.#unwatch(left);
    this.#markDirty(this, 'soon');
  }

  /** Chooses all endpoints again before the next message. */
  chooseAgain(): void {
    this.#release();
    this.#markDirty(this, 'soon');
  }

  /** The Service's rules have changed and the feed has forgotten its endpoints. */
  reset(): void {
    this.#chosen = undefined;
    this.#reserve = [];
    this.resend();
  }

  /** Adds ready endpoints from outside the subset while the subset has too few. */
  refill(): void {
    const rules = this.feed.subsetRules;
    if (!rules || !this.#chosen) return;
    this.#setReserve(chooseReserve(this.#viewer, this.feed.endpoints(), this.#chosen, rules));
    this.#markDirty(this, 'soon');
  }

  /** Returns what the host lacks, and records it as sent. */
  next(): NextMessage {
    const { rules } = this.feed;
    const sent = this.#sent;
    if (!rules) {
      this.#sent = ABSENT;
      return sent.state === 'absent' ? NOTHING : { type: 'absent' };
    }
    const current = this.#current();
    if (sent.state === 'view') {
      if (isSent(sent, current)) return NOTHING;
      this.#recordSent(current);
      return this.#changes(sent, current);
    }
    this.#recordSent(current);
    return { type: 'view', view: viewOf(rules, current) };
  }

  end(): void {
    this.#release();
    this.feed.subscriptions.delete(this);
    this.feed.short.delete(this);
  }

  #changes(sent: Extract<Sent, { state: 'view' }>, current: readonly FeedEndpoint[]): NextMessage {
    const before = sent.endpoints.map(({ id }, at) => ({
      id,
      state: STATES[sent.states[at] ?? 0] ?? 'ready',
    }));
    const difference = endpointDifference(before, current);
    if (!difference) return NOTHING;
    const changes = { service: this.feed.key, ...difference, set: difference.set.map(remoteEndpoint) };
    return { type: 'changes', changes };
  }

  /** Returns the endpoints that the host should have. Chooses them if necessary. */
  #current(): FeedEndpoint[] {
    const rules = this.feed.subsetRules;
    if (!rules) return [];
    if (!this.#chosen) {
      this.#chosen = chooseSubset(this.#viewer, this.feed.endpoints(), rules);
      for (const endpoint of this.#chosen) endpoint.watchers.push(this);
      if (countReady(this.#chosen) < ENOUGH_READY)
        this.#setReserve(chooseReserve(this.#viewer, this.feed.endpoints(), this.#chosen, rules));
    }
    const ready = countReady(this.#chosen);
    if (ready >= ENOUGH_READY) this.#setReserve([]);
    const isShort = rules.includesOthers && ready + countReady(this.#reserve) < ENOUGH_READY;
    if (isShort) this.feed.short.add(this);
    else this.feed.short.delete(this);
    return [...this.#chosen, ...this.#reserve];
  }

  #setReserve(reserve: FeedEndpoint[]): void {
    const before = this.#reserve;
    this.#reserve = reserve;
    for (const endpoint of before) this.#unwatch(endpoint);
    for (const endpoint of reserve) endpoint.watchers.push(this);
  }

  #release(): void {
    const watched = [...(this.#chosen ?? []), ...this.#reserve];
    this.#chosen = undefined;
    this.#reserve = [];
    for (const endpoint of watched) this.#unwatch(endpoint);
  }

  #unwatch({ watchers }: FeedEndpoint): void {
    const at = watchers.indexOf(this);
    if (at === -1) return;
    const last = watchers.pop();
    if (last && last !== this) watchers[at] = last;
  }

  #recordSent(endpoints: readonly FeedEndpoint[]): void {
    const states = Uint8Array.from(endpoints, ({ state }) => STATES.indexOf(state));
    this.#sent = { state: 'view', endpoints, states };
  }
}

function isSent({ endpoints, states }: Extract<Sent, { state: 'view' }>, current: readonly FeedEndpoint[]) {
  if (endpoints.length !== current.length) return false;
  return current.every(
    (endpoint, at) => endpoints[at] === endpoint && STATES[states[at] ?? 0] === endpoint.state,
  );
}

function viewOf(rules: ServiceRules, endpoints: readonly FeedEndpoint[]): ServiceView {
  return { ...rules, remote: endpoints.map(remoteEndpoint) };
}

function remoteEndpoint(endpoint: FeedEndpoint): RemoteEndpoint {
  const { id, node, hostname, zone, addresses, ports, state } = endpoint;
  return { id, node, hostname, zone, addresses, ports, state };
}
