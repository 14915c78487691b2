/** Sends each host the Services that its Pods need. Changes are gathered for a moment. */
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { ServiceInterest } from '../../../shared/link/messages/link-messages.js';
import type { ObjectChange } from '../../informers/informer.js';
import { SlicedQueue } from '../sessions/sliced-queue.js';
import { GatheredSet } from './gathered-set.js';
import { HostServices, type ServiceSession } from './host-services.js';
import { ServiceFeeds, type ServiceFeedsDeps } from './service-feeds.js';
import type { Urgency } from './service-subscription.js';

/** Changes of all Services of a host are gathered for this time. */
const GATHER_MS = 250;
/** For changes without which the host has enough ready endpoints. */
const GATHER_LATER_MS = 2_000;
/** Time that a new session has to send its interest, before it is sent the views that it did not ask for. */
const ASK_MS = 1_000;
const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** Counts since the start. */
interface ServicePublisherCounts {
  /** Hosts with interest in at least one Service. */
  interestedHosts: number;
  /** Services that at least one host has. */
  services: number;
  sentViews: number;
  sentChanges: number;
}

export class ServicePublisher {
  readonly #deps: ServiceFeedsDeps;
  readonly #feeds: ServiceFeeds;
  readonly #hosts = new Map<ServiceSession, HostServices>();
  readonly #byNode = new Map<string, HostServices>();
  readonly #answers: SlicedQueue<HostServices>;
  readonly #syncs: SlicedQueue<HostServices>;
  readonly #flushes: SlicedQueue<HostServices>;
  readonly #gathered: Record<Urgency, GatheredSet<HostServices>>;
  #sentViews = 0;
  #sentChanges = 0;

  constructor(deps: ServiceFeedsDeps) {
    const { clock, informers } = deps;
    this.#deps = deps;
    this.#answers = new SlicedQueue(deps, 'answer to interest in services', (host) => this.#answer(host));
    this.#syncs = new SlicedQueue(deps, 'unrequested services', (host) => this.#sync(host));
    this.#flushes = new SlicedQueue(deps, 'changes of services', (host) => this.#flush(host));
    const gathered = (ms: number) =>
      new GatheredSet(clock, ms, (host: HostServices) => this.#flushes.add(host));
    this.#gathered = { soon: gathered(GATHER_MS), later: gathered(GATHER_LATER_MS) };
    this.#feeds = new ServiceFeeds(deps, (nodes) => this.#syncHosts(nodes));
    this.#feeds.start();
    informers.nodes.onChange((change) => this.#nodeChanged(change));
  }

  /** A session with the feature has become live. It has no interest yet. */
  connected(session: ServiceSession): void {
    const { informers, clock } = this.#deps;
    const node = informers.nodes.get({ name: session.node });
    const host = new HostServices(session, zoneOf(node), this.#feeds, (dirty, urgency) =>
      this.#gathered[urgency].add(dirty),
    );
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
    for (const gathered of Object.values(this.#gathered)) gathered.delete(host);
    host.end();
  }

  stop(): void {
    for (const gathered of Object.values(this.#gathered)) gathered.stop();
    this.#feeds.stop();
  }

  /** Names of the nodes whose hosts have the Service, in no order. */
  hostsWith(service: ObjectRef): string[] {
    const subscriptions = [...(this.#feeds.get(service)?.subscriptions ?? [])];
    return subscriptions.filter(({ isKnown }) => isKnown).map(({ node }) => node);
  }

  counts(): ServicePublisherCounts {
    const hosts = [...this.#hosts.values()].filter(({ isInterested }) => isInterested);
    return {
      interestedHosts: hosts.length,
      services: this.#feeds.size,
      sentViews: this.#sentViews,
      sentChanges: this.#sentChanges,
    };
  }

  #nodeChanged({ current }: ObjectChange<Node>): void {
    if (current) this.#byNode.get(current.metadata.name)?.setZone(zoneOf(current));
  }

  #syncHosts(nodes: 'all' | Iterable<string>): void {
    const hosts = nodes === 'all' ? this.#hosts.values() : [...nodes].map((node) => this.#byNode.get(node));
    for (const host of hosts) if (host) this.#syncs.add(host);
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
    host.setUnrequested(this.#feeds.unrequestedFor(host.session.node));
    this.#flush(host);
  }

  #flush(host: HostServices): void {
    if (!this.#isLive(host)) return;
    if (host.isSlow) {
      this.#gathered.later.add(host);
      return;
    }
    const { views, changes } = host.flush();
    this.#sentViews += views;
    this.#sentChanges += changes;
  }

  #isLive(host: HostServices): boolean {
    return this.#hosts.get(host.session) === host;
  }
}

function zoneOf(node: Node | undefined): string {
  return node?.metadata.labels?.[ZONE_LABEL] ?? '';
}
