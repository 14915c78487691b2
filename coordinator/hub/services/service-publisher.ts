/**
 * Sends each host the Services that its Pods need. Follows Services, EndpointSlices and zones of Nodes, and gathers
 * changes for a moment before it sends them.
 */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import { type EndpointSlice, SERVICE_NAME_LABEL } from '../../../shared/kube/services/endpoint-types.js';
import { wantsRelay } from '../../../shared/kube/services/service-annotations.js';
import { type Service, serviceKey } from '../../../shared/kube/services/service-types.js';
import { FROM_HUB } from '../../../shared/link/encoding/message-schemas.js';
import { validate } from '../../../shared/link/encoding/schema-combinators.js';
import type { ServiceInterest } from '../../../shared/link/messages/link-messages.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { serviceViewOf } from '../../decisions/services/service-view-of.js';
import { type ServiceRules, sliceMembers } from '../../decisions/services/slice-endpoints.js';
import { type Informers, type ObjectChange, SLICES_BY_SERVICE } from '../../informers/informer.js';
import { SlicedQueue } from '../sessions/sliced-queue.js';
import { HostServices, type ServiceSession } from './host-services.js';
import { ServiceFeed } from './service-feed.js';
import type { ServiceSubscription } from './service-subscription.js';

/** Changes of all Services of a host are gathered for this time. */
const GATHER_MS = 250;
/** Time that a new session has to send its interest, before it is sent the views that it did not ask for. */
const ASK_MS = 1_000;
/** Interval of checks for subsets with too few ready endpoints, and for endpoints that are gone. */
const CHECK_MS = 1_000;
const ZONE_LABEL = 'topology.kubernetes.io/zone';

interface ServicePublisherDeps {
  informers: Pick<Informers, 'services' | 'endpointSlices' | 'namespaces' | 'nodes' | 'pods'>;
  clock: Clock;
  log: Logger;
}

/** Counts since the start. */
export interface ServicePublisherCounts {
  /** Hosts with interest in at least one Service. */
  interestedHosts: number;
  /** Services that at least one host has. */
  services: number;
  sentViews: number;
  sentChanges: number;
}

export class ServicePublisher {
  readonly #deps: ServicePublisherDeps;
  readonly #hosts = new Map<ServiceSession, HostServices>();
  readonly #byNode = new Map<string, HostServices>();
  readonly #feeds = new Map<string, ServiceFeed>();
  /** Keys of Services that every host receives, and of those that hosts with an endpoint receive. */
  readonly #everywhere = new Set<string>();
  readonly #relayed = new Set<string>();
  readonly #answers: SlicedQueue<HostServices>;
  readonly #syncs: SlicedQueue<HostServices>;
  readonly #flushes: SlicedQueue<HostServices>;
  readonly #refills: SlicedQueue<ServiceSubscription>;
  #dirty = new Set<HostServices>();
  #gathering: Timer | undefined;
  #checking: Timer | undefined;
  #sentViews = 0;
  #sentChanges = 0;

  constructor(deps: ServicePublisherDeps) {
    const { clock, informers } = deps;
    this.#deps = deps;
    this.#answers = new SlicedQueue(clock, (host) => this.#answer(host));
    this.#syncs = new SlicedQueue(clock, (host) => this.#sync(host));
    this.#flushes = new SlicedQueue(clock, (host) => this.#flush(host));
    this.#refills = new SlicedQueue(clock, (subscription) => subscription.refill());
    informers.services.onChange((change) => this.#serviceChanged(change));
    informers.endpointSlices.onChange((change) => this.#sliceChanged(change));
    informers.nodes.onChange((change) => this.#nodeChanged(change));
  }

  /** A session with the feature has become live. It has no interest yet. */
  connected(session: ServiceSession): void {
    const { informers, clock } = this.#deps;
    const node = informers.nodes.get({ name: session.node });
    const host = new HostServices(session, zoneOf(node), this.#source, (dirty) => this.#gather(dirty));
    this.#hosts.set(session, host);
    this.#byNode.set(session.node, host);
    clock.after(ASK_MS, () => this.#asked(host));
  }

  received(session: ServiceSession, interest: ServiceInterest): void {
    const host = this.#hosts.get(session);
    if (!host) return;
    host.receive(interest);
    this.#answers.add(host);
  }

  closed(session: ServiceSession): void {
    const host = this.#hosts.get(session);
    if (!host) return;
    this.#hosts.delete(session);
    if (this.#byNode.get(session.node) === host) this.#byNode.delete(session.node);
    this.#dirty.delete(host);
    host.end();
  }

  stop(): void {
    this.#gathering?.cancel();
    this.#checking?.cancel();
  }

  /** Names of the nodes whose hosts have the Service, in no order. */
  hostsWith(service: ObjectRef): string[] {
    const subscriptions = [...(this.#feeds.get(serviceKey(service))?.subscriptions ?? [])];
    return subscriptions.filter(({ isKnown }) => isKnown).map(({ node }) => node);
  }

  counts(): ServicePublisherCounts {
    const feeds = [...this.#feeds.values()].filter(
      ({ rules, subscriptions }) => rules && subscriptions.size > 0,
    );
    const hosts = [...this.#hosts.values()].filter(({ isInterested }) => isInterested);
    return {
      interestedHosts: hosts.length,
      services: feeds.length,
      sentViews: this.#sentViews,
      sentChanges: this.#sentChanges,
    };
  }

  readonly #source = {
    feedOf: (key: string): ServiceFeed => this.#feeds.get(key) ?? this.#open(key),
    absentNamespaceOf: (key: string): string[] => {
      const [name = ''] = key.split('/');
      return this.#deps.informers.namespaces.get({ name }) ? [] : [`${name}/`];
    },
    released: (feed: ServiceFeed): void => {
      if (feed.subscriptions.size === 0 && !this.#relayed.has(feed.key)) this.#feeds.delete(feed.key);
    },
  };

  #open(key: string): ServiceFeed {
    const [namespace = '', name = ''] = key.split('/');
    const feed = new ServiceFeed(key);
    this.#feeds.set(key, feed);
    this.#load(feed, this.#deps.informers.services.get({ namespace, name }));
    return feed;
  }

  /** Fills a feed from the informers. */
  #load(feed: ServiceFeed, service: Service | undefined): void {
    feed.reset(service && this.#rulesOf(service));
    if (!feed.rules) return;
    for (const slice of this.#deps.informers.endpointSlices.indexed(SLICES_BY_SERVICE, feed.key))
      this.#setSlice(feed, feed.rules, slice);
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

  #setSlice(feed: ServiceFeed, rules: ServiceRules, slice: EndpointSlice): void {
    const { informers, clock } = this.#deps;
    const members = sliceMembers(rules, slice, (ref) => informers.pods.get(ref));
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
    const feed = is.relayed ? this.#source.feedOf(key) : this.#feeds.get(key);
    const rules = current && this.#rulesOf(current);
    if (feed && JSON.stringify(feed.rules) !== JSON.stringify(rules)) this.#load(feed, current);
    if (is.everywhere || is.relayed || was.everywhere || was.relayed) {
      for (const host of this.#hosts.values()) this.#syncs.add(host);
    }
    if (feed) this.#source.released(feed);
  }

  #sliceChanged({ previous, current }: ObjectChange<EndpointSlice>): void {
    const [before, now] = [previous && keyOfSlice(previous), current && keyOfSlice(current)];
    const { clock } = this.#deps;
    if (previous && before !== undefined && before !== now)
      this.#feeds.get(before)?.setSlice(previous.metadata.name, [], clock.monotonic());
    const feed = now === undefined ? undefined : this.#feeds.get(now);
    if (feed?.rules && current) this.#setSlice(feed, feed.rules, current);
    const key = now ?? before;
    if (key === undefined || !this.#relayed.has(key)) return;
    const nodes = [...(previous?.endpoints ?? []), ...(current?.endpoints ?? [])].map(
      (each) => each.nodeName,
    );
    for (const node of new Set(nodes)) {
      const host = this.#byNode.get(node ?? '');
      if (host) this.#syncs.add(host);
    }
  }

  #nodeChanged({ current }: ObjectChange<Node>): void {
    if (current) this.#byNode.get(current.metadata.name)?.setZone(zoneOf(current));
  }

  #answer(host: HostServices): void {
    if (!this.#isLive(host)) return;
    this.#sentViews += host.answer();
    if (host.isWaiting) this.#answers.add(host);
    else this.#asked(host);
  }

  /** The host had the opportunity to ask, so it is sent what it did not ask for. */
  #asked(host: HostServices): void {
    if (host.hasAsked) return;
    host.hasAsked = true;
    this.#syncs.add(host);
  }

  /** Subscribes the host to the Services that it receives without asking. */
  #sync(host: HostServices): void {
    if (!this.#isLive(host) || !host.hasAsked) return;
    const wanted = new Set(this.#everywhere);
    for (const key of this.#relayed) if (this.#feeds.get(key)?.runsOn(host.session.node)) wanted.add(key);
    host.setUnrequested(wanted);
    this.#flush(host);
  }

  #gather(host: HostServices): void {
    this.#dirty.add(host);
    this.#gathering ??= this.#deps.clock.after(GATHER_MS, () => {
      this.#gathering = undefined;
      const dirty = this.#dirty;
      this.#dirty = new Set();
      for (const each of dirty) this.#flushes.add(each);
    });
  }

  #flush(host: HostServices): void {
    if (!this.#isLive(host)) return;
    const { views, changes } = host.flush();
    this.#sentViews += views;
    this.#sentChanges += changes;
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

  #isLive(host: HostServices): boolean {
    return this.#hosts.get(host.session) === host;
  }
}

function keyOfSlice({ metadata: { namespace, labels } }: EndpointSlice): string | undefined {
  const name = labels?.[SERVICE_NAME_LABEL];
  return name ? serviceKey({ ...(namespace === undefined ? {} : { namespace }), name }) : undefined;
}

function hasNodePorts(service: Service | undefined): boolean {
  return service?.spec?.type === 'NodePort' || service?.spec?.type === 'LoadBalancer';
}

function zoneOf(node: Node | undefined): string {
  return node?.metadata.labels?.[ZONE_LABEL] ?? '';
}

function set(keys: Set<string>, key: string, isMember: boolean): void {
  if (isMember) keys.add(key);
  else keys.delete(key);
}
