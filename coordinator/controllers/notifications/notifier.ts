/**
 * Reports rollouts that need an operator, and sites that go offline, to webhooks of chat systems. It
 * is level-triggered: while a receiver does not answer, it waits with back-off and gets the state of then. Problems
 * that were there at its start count as reported, so that a restart repeats nothing.
 */
import { PAST_ROLLOUT_LABEL } from '../../../shared/kube/rollouts/rollout-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Component } from '../../../shared/process/service/program-lifecycle.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import {
  type Notification,
  rolloutProblem,
  siteNotifications,
  type Topic,
} from '../../decisions/notifications/problem.js';
import type { Informers } from '../../informers/informer.js';
import { type QueueMeter, type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import { SiteAvailability } from './site-availability.js';

/** A shorter outage, such as the restart of a router, is not reported. */
const OFFLINE_MS = 60_000;
const SITES = 'sites';
const SEPARATOR = '|';

/** Sends to one webhook. */
export interface Receiver {
  /** Unique. */
  name: string;
  topics: readonly Topic[];
  /** Rejects with an Error whose message has no secrets. */
  send(notification: Notification): Promise<void>;
}

interface NotifierDeps {
  informers: Pick<Informers, 'rollouts' | 'nodes' | 'waitFor'>;
  receivers: readonly Receiver[];
  /** The label of a Node with its site. */
  siteLabel: string;
  queueMeter?: QueueMeter;
  clock: Clock;
  log: Logger;
}

/** The problems that one receiver got. */
interface Reported {
  /** The id of the problem by rollout. */
  rollouts: Map<string, string>;
  sites: Set<string>;
}

export class Notifier implements Component {
  readonly name = 'notifications';
  readonly #deps: NotifierDeps;
  readonly #sites: SiteAvailability;
  readonly #reported = new Map<string, Reported>();
  #worker: Worker | undefined;

  constructor(deps: NotifierDeps) {
    this.#deps = deps;
    this.#sites = new SiteAvailability(deps.siteLabel);
  }

  async start(): Promise<void> {
    const { informers, clock, receivers } = this.#deps;
    await Promise.all([informers.nodes.synced(), informers.rollouts.synced()]);
    informers.nodes.onChange((change) => {
      if (this.#sites.observe(change, clock.monotonic())) this.#queueForAll(SITES);
    });
    informers.rollouts.onChange(({ previous, current }) => {
      const { metadata } = current ?? previous ?? {};
      if (metadata && metadata.labels?.[PAST_ROLLOUT_LABEL] === undefined)
        this.#queueForAll(`${metadata.namespace}/${metadata.name}`);
    });
    for (const { name } of receivers) this.#reported.set(name, this.#present());
    this.#worker = new Worker({
      ...this.#deps,
      name: this.name,
      reconcile: (key, context) => this.#reconcile(key, context),
    });
  }

  async stop(): Promise<void> {
    await this.#worker?.stop();
  }

  #present(): Reported {
    const rollouts = new Map<string, string>();
    for (const rollout of this.#deps.informers.rollouts.list()) {
      const problem = rolloutProblem(rollout);
      const { namespace, name } = rollout.metadata;
      if (problem) rollouts.set(`${namespace}/${name}`, problem.id);
    }
    return { rollouts, sites: new Set(this.#sites.offlineSince.keys()) };
  }

  #queueForAll(subject: string): void {
    for (const { name } of this.#deps.receivers) this.#worker?.queue.add(name + SEPARATOR + subject);
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const at = key.indexOf(SEPARATOR);
    const subject = key.slice(at + 1);
    const receiver = this.#deps.receivers.find(({ name }) => name === key.slice(0, at));
    const reported = receiver && this.#reported.get(receiver.name);
    if (!reported) return;
    if (subject === SITES) await this.#reportSites(receiver, reported, context);
    else await this.#reportRollout(receiver, reported, subject);
  }

  async #reportRollout(receiver: Receiver, reported: Reported, subject: string): Promise<void> {
    const [namespace = '', name = ''] = subject.split('/');
    const rollout = this.#deps.informers.rollouts.get({ namespace, name });
    const problem = rollout && rolloutProblem(rollout);
    if (!problem) {
      reported.rollouts.delete(subject);
      return;
    }
    if (reported.rollouts.get(subject) === problem.id) return;
    await this.#send(receiver, problem.notification);
    reported.rollouts.set(subject, problem.id);
  }

  async #reportSites(receiver: Receiver, reported: Reported, context: ReconcileContext): Promise<void> {
    const now = this.#deps.clock.monotonic();
    const { sites, offlineSince } = this.#sites;
    const offline = this.#sites.offlineFor(OFFLINE_MS, now);
    // A site that was reported as offline at the start may be offline for a shorter time by this process's clock.
    for (const name of reported.sites) if (offlineSince.has(name)) offline.add(name);
    for (const notification of siteNotifications(reported.sites, offline, sites)) {
      await this.#send(receiver, notification);
      // If the next one fails, the retry must not repeat this one.
      if (notification.topic === 'SiteOffline') reported.sites = new Set([...reported.sites, ...offline]);
    }
    reported.sites = offline;
    const next = [...offlineSince].filter(([name]) => !offline.has(name)).map(([, since]) => since);
    if (next.length > 0) context.requeueAfter(Math.min(...next) + OFFLINE_MS - now);
  }

  async #send(receiver: Receiver, notification: Notification): Promise<void> {
    if (!receiver.topics.includes(notification.topic)) return;
    await receiver.send(notification);
    const { topic, title } = notification;
    this.#deps.log.info({ receiver: receiver.name, topic, title }, 'notification sent');
  }
}
