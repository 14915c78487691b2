/** The feeds of all Services that a host has, kept current from the informers. */
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import { type EndpointSlice, SERVICE_NAME_LABEL } from '../../../shared/kube/services/endpoint-types.js';
import { wantsRelay } from '../../../shared/kube/services/service-annotations.js';
import { type Service, serviceKey } from '../../../shared/kube/services/service-types.js';
import { FROM_HUB } from '../../../shared/link/encoding/message-schemas.js';
import { validate } from '../../../shared/link/encoding/schema-combinators.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { serviceViewOf } from '../../decisions/services/service-view-of.js';
import {
  endpointRules,
  membersNamed,
  type ServiceRules,
  sliceMembers,
} from '../../decisions/services/slice-endpoints.js';
import { type Informers, type ObjectChange, SLICES_BY_SERVICE } from '../../informers/informer.js';
import { SlicedQueue } from '../sessions/sliced-queue.js';
import type { FeedSource } from './host-services.js';
import { ServiceFeed } from './service-feed.js';

/** Interval of checks for subsets with too few ready endpoints, and for endpoints that are gone. */
const CHECK_MS = 1_000;

export interface ServiceFeedsDeps {
  informers: Pick<Informers, 'services' | 'endpointSlices' | 'namespaces' | 'nodes' | 'pods'>;
  clock: Clock;
  log: Logger;
}

export class ServiceFeeds implements FeedSource {
  readonly #deps: ServiceFeedsDeps;
  readonly #feeds = new Map<string, ServiceFeed>();
  /** Feeds of single endpoints, by the key of their Service. */
  readonly #endpointFeeds = new Map<string, Set<ServiceFeed>>();
  /** Keys of Services that every host receives, and of those that hosts with an endpoint receive. */
  readonly #everywhere = new Set<string>();
  readonly #relayed = new Set<string>();
  readonly #refills: SlicedQueue<{ refill(): void }>;
  readonly #onUnrequestedChange: (nodes: 'all' | Iterable<string>) => void;
  #checking: Timer | undefined;

  /** `onUnrequestedChange` is called with the nodes whose hosts may need other Services without asking. */
  constructor(deps: ServiceFeedsDeps, onUnrequestedChange: (nodes: 'all' | Iterable<string>) => void) {
    this.#deps = deps;
    this.#onUnrequestedChange = onUnrequestedChange;
    this.#refills = new SlicedQueue(deps, 'refill of endpoints', (subscription) => subscription.refill());
  }

  /** Subscribes to the informers, which report all present objects at once. */
  start(): void {
    const { services, endpointSlices } = this.#deps.informers;
    services.onChange((change) => this.#serviceChanged(change));
    endpointSlices.onChange((change) => this.#sliceChanged(change));
  }

  stop(): void {
    this.#checking?.cancel();
  }

  get(service: ObjectRef): ServiceFeed | undefined {
    return this.#feeds.get(serviceKey(service));
  }

  /** Number of existing Services that a host has. */
  get size(): number {
    const used = [...this.#feeds.values()].filter(
      ({ rules, hostname, subscriptions }) => rules && hostname === undefined && subscriptions.size > 0,
    );
    return used.length;
  }

  feedOf(key: string): ServiceFeed {
    return this.#feeds.get(key) ?? this.#open(key);
  }

  absentNamespaceOf(key: string): string[] {
    const [name = ''] = key.split('/');
    return this.#deps.informers.namespaces.get({ name }) ? [] : [`${name}/`];
  }

  released(feed: ServiceFeed): void {
    if (feed.subscriptions.size > 0 || this.#relayed.has(feed.key)) return;
    this.#feeds.delete(feed.key);
    const ofService = this.#endpointFeeds.get(feed.service);
    ofService?.delete(feed);
    if (ofService?.size === 0) this.#endpointFeeds.delete(feed.service);
  }

  /** Returns the keys of the Services that the host of a node receives without asking. */
  unrequestedFor(node: string): Set<string> {
    const relayed = [...this.#relayed].filter((key) => this.#feeds.get(key)?.runsOn(node));
    return new Set([...this.#everywhere, ...relayed]);
  }

  #open(key: string): ServiceFeed {
    const [namespace = '', name = ''] = key.split('/');
    const feed = new ServiceFeed(key);
    this.#feeds.set(key, feed);
    if (feed.hostname !== undefined) {
      const ofService = this.#endpointFeeds.get(feed.service) ?? new Set();
      this.#endpointFeeds.set(feed.service, ofService.add(feed));
    }
    this.#load(feed, this.#deps.informers.services.get({ namespace, name }));
    return feed;
  }

  /** Fills a feed from the informers. */
  #load(feed: ServiceFeed, service: Service | undefined): void {
    feed.reset(this.#rulesFor(feed, service));
    if (!feed.loadedRules) return;
    for (const slice of this.#deps.informers.endpointSlices.indexed(SLICES_BY_SERVICE, feed.service))
      this.#setSlice(feed, slice);
  }

  /** Loads a feed again if the rules of its Service have changed. Returns whether they have. */
  #reload(feed: ServiceFeed, service: Service | undefined): boolean {
    const rules = this.#rulesFor(feed, service);
    if (JSON.stringify(feed.loadedRules) === JSON.stringify(rules)) return false;
    this.#load(feed, service);
    return true;
  }

  #rulesFor({ hostname }: ServiceFeed, service: Service | undefined): ServiceRules | undefined {
    const rules = service && this.#rulesOf(service);
    return rules && hostname !== undefined ? endpointRules(rules, hostname) : rules;
  }

  /** Undefined for a stored Service that the link cannot carry, so that it does not break the link of each host. */
  #rulesOf(service: Service): ServiceRules | undefined {
    const rules = serviceViewOf(service);
    try {
      validate(
        FROM_HUB.serviceViews,
        { kind: 'serviceViews', set: [{ ...rules, remote: [] }], absent: [] },
        '',
      );
      return rules;
    } catch (error) {
      this.#deps.log.warn({ service: serviceKey(service.metadata), err: error }, 'service not sent to hosts');
      return undefined;
    }
  }

  #setSlice(feed: ServiceFeed, slice: EndpointSlice): void {
    const { informers, clock } = this.#deps;
    const [namespace = '', name = ''] = feed.service.split('/');
    const service = informers.services.get({ namespace, name });
    if (!service || !feed.loadedRules) return;
    const podOf = (ref: ObjectRef) => informers.pods.get(ref);
    const members =
      feed.hostname === undefined
        ? sliceMembers(feed.loadedRules, slice, podOf)
        : membersNamed(feed.hostname, serviceViewOf(service), slice, podOf);
    feed.setSlice(slice.metadata.name, members, clock.monotonic());
    this.#check();
  }

  #serviceChanged({ previous, current }: ObjectChange<Service>): void {
    const service = current ?? previous;
    if (!service) return;
    const key = serviceKey(service.metadata);
    const was = { everywhere: this.#everywhere.has(key), relayed: this.#relayed.has(key) };
    const is = {
      everywhere: hasNodePorts(current),
      relayed: current !== undefined && wantsRelay(current.metadata),
    };
    set(this.#everywhere, key, is.everywhere);
    set(this.#relayed, key, is.relayed);
    const feed = is.relayed ? this.feedOf(key) : this.#feeds.get(key);
    const isReloaded = feed !== undefined && this.#reload(feed, current);
    for (const endpoint of this.#endpointFeeds.get(key) ?? []) this.#reload(endpoint, current);
    const isMoved = is.everywhere !== was.everywhere || is.relayed !== was.relayed;
    if (isMoved || (is.relayed && isReloaded)) this.#onUnrequestedChange('all');
    if (feed) this.released(feed);
  }

  #sliceChanged({ previous, current }: ObjectChange<EndpointSlice>): void {
    const [before, now] = [previous && keyOfSlice(previous), current && keyOfSlice(current)];
    const { clock } = this.#deps;
    if (previous && before !== undefined && before !== now)
      for (const feed of this.#feedsOf(before)) feed.setSlice(previous.metadata.name, [], clock.monotonic());
    if (now !== undefined && current) for (const feed of this.#feedsOf(now)) this.#setSlice(feed, current);
    const key = now ?? before;
    if (key === undefined || !this.#relayed.has(key)) return;
    // Readiness changes far more often than the nodes of a slice do.
    const isMoved = before !== now;
    const nodes = { before: nodesOf(previous), now: nodesOf(current) };
    const left = [...nodes.before].filter((node) => isMoved || !nodes.now.has(node));
    const joined = [...nodes.now].filter((node) => isMoved || !nodes.before.has(node));
    if (left.length + joined.length > 0) this.#onUnrequestedChange(new Set([...left, ...joined]));
  }

  /** Returns the feed of a Service and those of its single endpoints, as far as hosts need them. */
  #feedsOf(service: string): ServiceFeed[] {
    const whole = this.#feeds.get(service);
    return [...(whole ? [whole] : []), ...(this.#endpointFeeds.get(service) ?? [])];
  }

  #check(): void {
    this.#checking ??= this.#deps.clock.after(CHECK_MS, () => {
      this.#checking = undefined;
      const nowMs = this.#deps.clock.monotonic();
      let hasGone = false;
      for (const feed of this.#feeds.values()) {
        feed.sweep(nowMs);
        hasGone ||= feed.hasGone;
        for (const subscription of feed.takeShort()) this.#refills.add(subscription);
      }
      if (hasGone) this.#check();
    });
  }
}

function keyOfSlice({ metadata: { namespace, labels } }: EndpointSlice): string | undefined {
  const name = labels?.[SERVICE_NAME_LABEL];
  return name ? serviceKey({ ...(namespace === undefined ? {} : { namespace }), name }) : undefined;
}

function nodesOf(slice: EndpointSlice | undefined): Set<string> {
  return new Set((slice?.endpoints ?? []).flatMap(({ nodeName }) => nodeName ?? []));
}

function hasNodePorts(service: Service | undefined): boolean {
  return service?.spec?.type === 'NodePort' || service?.spec?.type === 'LoadBalancer';
}

function set(keys: Set<string>, key: string, isMember: boolean): void {
  if (isMember) keys.add(key);
  else keys.delete(key);
}
