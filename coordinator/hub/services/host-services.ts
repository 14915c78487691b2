/** The Services of one live session: what the host asked for, and what it has to be sent. */
import type {
  EndpointChanges,
  ServiceInterest,
  ServiceViews,
} from '../../../shared/link/messages/link-messages.js';
import { type EndpointViewer, rankHash } from '../../decisions/services/endpoint-subset.js';
import { isServiceKey, viewWeight } from '../../decisions/services/service-interest.js';
import type { ServiceFeed } from './service-feed.js';
import { ServiceSubscription, type Urgency } from './service-subscription.js';

/** More Services than the Pods of one host ask for. */
const MAX_INTEREST = 5_000;
/** Estimated bytes of a message. Other messages of the session, such as acknowledgements, go between two of them. */
const MESSAGE_BYTES = 256 * 1024;

/** A slow link has this much to send already. Changes wait, so that later ones replace them. */
const MAX_QUEUED_BYTES = 4 * MESSAGE_BYTES;

/** The part of a session that Services use. */
export interface ServiceSession {
  readonly node: string;
  /** Bytes of sent messages that the operating system has not accepted yet. */
  queuedBytes(): number;
  send(message: ServiceViews | EndpointChanges): void;
}

/** The feeds of all Services. */
export interface FeedSource {
  /** Returns the feed of a Service, which may not exist. */
  feedOf(key: string): ServiceFeed;
  /** Returns `namespace/` of the Service if there is no such namespace. */
  absentNamespaceOf(key: string): string[];
  /** Called when a subscription of the feed has ended. */
  released(feed: ServiceFeed): void;
}

export class HostServices {
  readonly session: ServiceSession;
  readonly #viewer: EndpointViewer & { zone: string };
  readonly #feeds: FeedSource;
  readonly #onDirty: (host: HostServices, urgency: Urgency) => void;
  readonly #subscriptions = new Map<string, ServiceSubscription>();
  /** Services whose interest has to be processed: the digest, or undefined if the host no longer needs the Service. */
  readonly #waiting = new Map<string, string | undefined>();
  readonly #dirty = new Set<ServiceSubscription>();
  /** True once the host has sent its interest, so that unrequested views do not repeat what it has. */
  hasAsked = false;

  constructor(
    session: ServiceSession,
    zone: string,
    feeds: FeedSource,
    onDirty: (host: HostServices, urgency: Urgency) => void,
  ) {
    this.session = session;
    this.#viewer = { node: session.node, zone, hash: rankHash(session.node) };
    this.#feeds = feeds;
    this.#onDirty = onDirty;
  }

  /** Queues an interest, up to the limit. Names that no Service can have are absent, and are not stored. */
  receive({ wanted, unwanted }: ServiceInterest): void {
    for (const key of unwanted) this.#enqueue(key, undefined);
    const absent: string[] = [];
    for (const [key, digest] of wanted) {
      if (isServiceKey(key)) this.#enqueue(key, digest);
      else absent.push(key);
    }
    if (absent.length > 0) this.session.send({ kind: 'serviceViews', set: [], absent });
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  setZone(zone: string): void {
    if (zone === this.#viewer.zone) return;
    this.#viewer.zone = zone;
    for (const subscription of this.#subscriptions.values()) subscription.chooseAgain();
  }

  /** Answers queued interest until the message is large enough. Returns the number of views that were sent. */
  answer(): number {
    const views: ServiceViews = { kind: 'serviceViews', set: [], absent: [] };
    let weight = 0;
    for (const [key, digest] of this.#waiting) {
      if (weight >= MESSAGE_BYTES) break;
      this.#waiting.delete(key);
      weight += 1_000;
      if (digest === undefined) this.#unsubscribe(key);
      else if (this.#subscribe(key, digest)) weight += this.#addNext(key, views);
    }
    if (views.set.length + views.absent.length > 0) this.session.send(views);
    return views.set.length + views.absent.length;
  }

  /** Sends exactly these Services without a request. */
  setUnrequested(keys: ReadonlySet<string>): void {
    for (const subscription of this.#subscriptions.values()) {
      if (!subscription.isUnrequested || keys.has(subscription.feed.key)) continue;
      subscription.isUnrequested = false;
      // Without interest the host drops the Service: the next message is an absence.
      subscription.interestEnded();
    }
    for (const key of keys) {
      const present = this.#subscriptions.get(key);
      const subscription = present ?? this.#create(this.#feeds.feedOf(key));
      subscription.isUnrequested = true;
      if (!present) subscription.resend();
    }
  }

  /** True if the link cannot keep up with what it was sent. */
  get isSlow(): boolean {
    return this.session.queuedBytes() >= MAX_QUEUED_BYTES;
  }

  /** True if the host asked for a Service. */
  get isInterested(): boolean {
    for (const { isRequested } of this.#subscriptions.values()) if (isRequested) return true;
    return false;
  }

  /** Sends all changes. Returns the numbers of views and changes that were sent. */
  flush(): { views: number; changes: number } {
    let [views, changes, weight] = [0, 0, 0];
    let whole: ServiceViews = { kind: 'serviceViews', set: [], absent: [] };
    let partial: EndpointChanges = { kind: 'endpointChanges', changes: [] };
    const send = () => {
      if (whole.set.length + whole.absent.length > 0) this.session.send(whole);
      if (partial.changes.length > 0) this.session.send(partial);
      views += whole.set.length + whole.absent.length;
      changes += partial.changes.length;
      whole = { kind: 'serviceViews', set: [], absent: [] };
      partial = { kind: 'endpointChanges', changes: [] };
      weight = 0;
    };
    for (const subscription of this.#dirty) {
      this.#dirty.delete(subscription);
      weight += this.#addChange(subscription, whole, partial);
      if (weight >= MESSAGE_BYTES) send();
    }
    send();
    return { views, changes };
  }

  /** Ends all subscriptions. */
  end(): void {
    this.#waiting.clear();
    for (const subscription of this.#subscriptions.values()) this.#drop(subscription);
  }

  #enqueue(key: string, digest: string | undefined): void {
    // Only the last request counts, in the order of arrival.
    this.#waiting.delete(key);
    if (this.#waiting.size >= MAX_INTEREST) return;
    this.#waiting.set(key, digest);
  }

  /** Returns true if the host needs an answer. */
  #subscribe(key: string, digest: string): boolean {
    const present = this.#subscriptions.get(key);
    if (!present && this.#subscriptions.size >= MAX_INTEREST) return false;
    const subscription = present ?? this.#create(this.#feeds.feedOf(key));
    subscription.isRequested = true;
    if (subscription.acknowledge(digest)) {
      this.#dirty.delete(subscription);
      return false;
    }
    subscription.resend();
    return true;
  }

  #unsubscribe(key: string): void {
    const subscription = this.#subscriptions.get(key);
    if (!subscription) return;
    if (subscription.isUnrequested) subscription.isRequested = false;
    else this.#drop(subscription);
  }

  #addNext(key: string, views: ServiceViews): number {
    const subscription = this.#subscriptions.get(key);
    if (!subscription) return 0;
    this.#dirty.delete(subscription);
    return this.#addChange(subscription, views, undefined);
  }

  /** Adds the subscription's next message. Returns the estimated bytes. */
  #addChange(
    subscription: ServiceSubscription,
    views: ServiceViews,
    changes: EndpointChanges | undefined,
  ): number {
    const { key } = subscription.feed;
    if (!subscription.isRequested && !subscription.isUnrequested) {
      views.absent.push(key);
      this.#drop(subscription);
      return key.length;
    }
    const next = subscription.next();
    if (next.type === 'absent') {
      views.absent.push(key, ...this.#feeds.absentNamespaceOf(key));
      if (!subscription.isRequested) this.#drop(subscription);
    }
    if (next.type === 'view') {
      views.set.push(next.view);
      return viewWeight(next.view, next.view.remote.length);
    }
    if (next.type === 'changes' && changes) {
      changes.changes.push(next.changes);
      return viewWeight(subscription.feed.rules, next.changes.set.length);
    }
    return key.length;
  }

  #create(feed: ServiceFeed): ServiceSubscription {
    const subscription = new ServiceSubscription(feed, this.#viewer, (dirty, urgency) => {
      this.#dirty.add(dirty);
      this.#onDirty(this, urgency);
    });
    this.#subscriptions.set(feed.key, subscription);
    return subscription;
  }

  #drop(subscription: ServiceSubscription): void {
    const { feed } = subscription;
    subscription.end();
    this.#dirty.delete(subscription);
    this.#subscriptions.delete(feed.key);
    this.#feeds.released(feed);
  }
}
