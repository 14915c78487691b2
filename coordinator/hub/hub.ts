/**
 * The coordinator's end of the agents' links: lets agents in, brings them what their nodes need, writes what they
 * report, and says which nodes are there. Nothing outside this room holds an agent's socket.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { isConfigObject } from '../../shared/kube/config-reference.js';
import type { Node } from '../../shared/kube/node.js';
import type { Pod } from '../../shared/kube/pod.js';
import {
  BEAT_INTERVAL_MS,
  type Hello,
  JOIN_SEAL_HEADER,
  type JoinAnswer,
  type ReportedEvent,
  type ReturnedObject,
  type StatusReport,
  type Welcome,
} from '../../shared/link/messages.js';
import { CONFIG_OBJECTS, commonFeatures, GIVE_BACK } from '../../shared/link/version.js';
import type { Clock } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import { unknownPodVerdict } from '../decisions/unknown-pod.js';
import type { Informers, ObjectChange } from '../informers/informer.js';
import type { Registry } from '../registry/registry.js';
import { admit, nodeDeleted } from './admission.js';
import { encodeConfig, encodeDesired } from './desired-object.js';
import { DesiredSender, type DesiredSource } from './desired-sender.js';
import { Enrolment, type JoinCall } from './enrolment.js';
import { FanOut } from './fan-out.js';
import { GivenBack } from './given-back.js';
import { hostOffsetMs } from './host-time.js';
import { NodeConditions } from './node-conditions.js';
import { NodeLanes } from './node-lanes.js';
import { NodeObjects } from './node-objects.js';
import type { PendingRestore } from './pending-restore.js';
import { PodStreams } from './pod-streams.js';
import type { Presence } from './presence.js';
import type { RecordEvent } from './record-event.js';
import type { Sealer } from './seal.js';
import { Session, type SessionEvents } from './session.js';
import { StatusWriter } from './status-writer.js';
import { Upgrader } from './upgrade.js';

export interface HubOptions {
  registry: Registry;
  informers: Informers;
  /** Handed in since Leases are read from it as well (`nodeLeases`). */
  presence: Presence;
  /** Which fleet this is, and which log of it: `store.clusterUID()`, `store.era()`. */
  clusterUID: string;
  era: string;
  /** Seals what agents are given, and knows the eras that the store was restored from. */
  sealer: Sealer;
  /** A restore that a person has yet to confirm; absent when that cannot be. */
  restore?: PendingRestore;
  /** Event recorders by component: the hub's own words, and those it passes on for agents. */
  recordEvent: { asNodeController: RecordEvent; asAgent: RecordEvent };
  clock: Clock;
  log: Logger;
}

/** After a coordinator's start the fleet's first tries are spread so that handshakes stay below 500 a second. */
const SPREAD_MS_A_NODE = 2;
/** An agent's Events beyond this in one message are dropped. */
const MAX_EVENTS_A_REPORT = 200;
const DRAIN_RETRY_MS = 1_000;
const RETRY_MS = 5_000;
const CLONE_EVENT = [
  'DuplicateAgent',
  'Another agent tried to connect under the name of this node and was refused',
] as const;

/** A live session, which Node it was welcomed as, and how its host's clock differs. */
interface Entry {
  session: Session;
  nodeUid: string | undefined;
  offsetMs: number;
}

export class Hub implements SessionEvents {
  readonly streams: PodStreams;
  readonly #options: HubOptions;
  readonly #enrolment: Enrolment;
  readonly #upgrader: Upgrader;
  readonly #live = new Map<string, Entry>();
  /** All sessions with an open socket, live or not. */
  readonly #sessions = new Set<Session>();
  /** One hello a node is decided at a time. */
  readonly #admissions: NodeLanes;
  readonly #conditions: NodeConditions;
  readonly #statusWriter: StatusWriter;
  readonly #givenBack: GivenBack;
  readonly #fanOut: FanOut<Session>;
  readonly #objects: NodeObjects;
  #isStopping = false;
  #whenEmpty: () => void = () => undefined;

  constructor(options: HubOptions) {
    const { registry, informers, presence, clock, clusterUID } = options;
    const log = options.log.child({ component: 'hub' });
    this.#options = { ...options, log };
    this.#enrolment = new Enrolment({
      registry,
      clock,
      clusterUID,
      sealer: options.sealer,
      restore: options.restore,
    });
    this.#upgrader = new Upgrader({
      authenticate: ({ authorization, [JOIN_SEAL_HEADER]: seal }) =>
        this.#enrolment.authenticate(authorization, typeof seal === 'string' ? seal : undefined),
      accept: (node, socket, transport) => this.accept(node, socket, transport),
      log,
    });
    this.#admissions = new NodeLanes(informers);
    const lanes = new NodeLanes(informers);
    const onMissing = (node: string) => this.#live.get(node)?.session.goodbye(nodeDeleted(clusterUID));
    const recordEvent = options.recordEvent.asNodeController;
    const shared = { registry, informers, presence, lanes, clock, log };
    this.#conditions = new NodeConditions({ ...shared, recordEvent, onMissing });
    this.#statusWriter = new StatusWriter({ ...shared, nodeConditions: this.#conditions });
    this.#givenBack = new GivenBack({ registry, informers, sealer: options.sealer, log });
    void options.restore?.confirmed.then(() => this.#reconsider());
    this.#fanOut = new FanOut(clock, (session) => session.flush());
    this.streams = new PodStreams((node) => this.#sessionOf(node));
    presence.onChange((node) => this.#conditions.outOfContact(node));
    informers.nodes.onChange((change) => this.#nodeChanged(change));
    this.#objects = new NodeObjects(informers, (node, uid) => this.#live.get(node)?.session.touch(uid));
  }

  /** How many agents are connected. */
  get connected(): number {
    return this.#live.size;
  }

  /** Registers a node's credential by a join token. Throws ApiError. */
  join(call: JoinCall): Promise<JoinAnswer> {
    return this.#enrolment.join(call);
  }

  /** Takes over the socket of an upgrade at LINK_PATH: an agent's link, or a refusal with a Status. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    void this.#upgrader.upgrade(request, socket, head);
  }

  /** Takes over the WebSocket of an agent whose credential proved to be that of `node`. */
  accept(node: string, socket: WebSocket, transport: Duplex): void {
    this.#sessions.add(new Session(node, socket, transport, this, this.#options.clock));
  }

  /** Sends all agents away for a moment and resolves when they are gone. Nothing is written about it. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#upgrader.close();
    this.#options.presence.stop();
    this.#conditions.stop();
    const goodbye = {
      reason: 'draining',
      message: 'the coordinator stops',
      retryMs: DRAIN_RETRY_MS,
    } as const;
    for (const session of this.#sessions) session.goodbye(goodbye);
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
    });
  }

  hello(session: Session, hello: Hello): void {
    const { log, clock, presence } = this.#options;
    const offsetMs = hostOffsetMs(clock.now(), hello.hostTimeMs);
    const { node } = session;
    this.#admissions
      .run(node, async () => {
        await this.#decide(session, hello, offsetMs);
        return 0;
      })
      .catch((error: unknown) => {
        log.error({ node, err: error }, 'hello could not be answered');
        session.goodbye({ reason: 'refused', message: 'the coordinator has trouble', retryMs: RETRY_MS });
      })
      .finally(() => {
        // The old session may have been sent away for one that then was not let in.
        if (!this.#live.has(node)) presence.disconnected(node);
      });
  }

  async status(session: Session, report: StatusReport): Promise<void> {
    const entry = this.#live.get(session.node);
    if (entry?.session !== session) return;
    try {
      await this.#takeBack(session, report.returned ?? []);
      await this.#statusWriter.write({ node: session.node, offsetMs: entry.offsetMs }, report);
    } catch (error) {
      this.#options.log.warn({ node: session.node, err: error }, 'report could not be stored');
      throw error;
    }
  }

  /** Takes what was asked for; the rest goes unread. */
  async #takeBack(session: Session, returned: readonly ReturnedObject[]): Promise<void> {
    const asked = returned.filter(({ uid }) => session.isAsked(uid));
    if (asked.length === 0) return;
    await this.#givenBack.store(session.node, asked);
    session.answered(asked.map(({ uid }) => uid));
  }

  #reconsider(): void {
    for (const { session } of this.#live.values()) session.reconsider();
  }

  events(session: Session, items: ReportedEvent[]): void {
    for (const { involvedObject, type, reason, message } of items.slice(0, MAX_EVENTS_A_REPORT)) {
      const about = this.#ownObject(session.node, involvedObject);
      if (about) this.#options.recordEvent.asAgent(about, type, reason, message);
    }
  }

  closed(session: Session, reason: string): void {
    this.#sessions.delete(session);
    const wasLive = this.#release(session);
    this.#options.log[wasLive ? 'info' : 'debug']({ node: session.node, reason }, 'agent disconnected');
    if (wasLive && !this.#isStopping) this.#options.presence.disconnected(session.node);
    if (this.#sessions.size === 0) this.#whenEmpty();
  }

  async #decide(session: Session, hello: Hello, offsetMs: number): Promise<void> {
    const { registry, informers, clusterUID, era, recordEvent, sealer } = this.#options;
    // Before the caches are full, what they lack would look like deleted.
    await Promise.all([informers.pods.synced(), informers.nodes.synced()]);
    const verdict = await admit(
      {
        registry,
        clusterUID,
        era,
        informers,
        sessionOf: (node) => this.#sessionOf(node),
        release: (rival) => this.#release(rival),
      },
      session,
      hello,
    );
    if ('welcome' in verdict && sealer.isBeyond(hello)) {
      await this.#givenBack.dropUnheld(session.node, hello.have, sealer.restoredFrom);
    }
    if (session.phase !== 'greeting') return;
    if ('welcome' in verdict) {
      await this.#welcome(session, hello, verdict.welcome, offsetMs);
      return;
    }
    const node = informers.nodes.get({ name: session.node });
    if (verdict.isClone && node) recordEvent.asNodeController(node, 'Warning', ...CLONE_EVENT);
    this.#options.log.warn({ node: session.node, ...verdict.goodbye }, 'agent refused');
    session.goodbye(verdict.goodbye);
  }

  async #welcome(session: Session, hello: Hello, node: Node, offsetMs: number): Promise<void> {
    const { presence, log } = this.#options;
    session.send(this.#welcomeFor(node, hello));
    const sender = new DesiredSender(
      hello.have,
      this.#sourceFor(session.node, hello),
      (message) => session.send(message),
      () => this.#fanOut.add(session),
    );
    session.becomeLive(hello.instanceID, commonFeatures(hello.features), sender);
    this.#live.set(session.node, { session, nodeUid: node.metadata.uid, offsetMs });
    presence.connected(session.node, () => session.quietMs());
    log.info({ node: session.node, version: hello.agentVersion }, 'agent connected');
    await this.#conditions.write(session.node, hello.status);
  }

  #welcomeFor({ metadata }: Node, hello: Hello): Welcome {
    const { clusterUID, era, clock, informers } = this.#options;
    const { name, uid, labels, annotations } = metadata;
    return {
      kind: 'welcome',
      features: commonFeatures(hello.features),
      clusterUID,
      era,
      beatIntervalMs: BEAT_INTERVAL_MS,
      reconnectSpreadMs: informers.nodes.size * SPREAD_MS_A_NODE,
      serverTimeMs: clock.now(),
      node: {
        metadata: {
          name,
          ...(uid && { uid }),
          ...(labels && { labels }),
          ...(annotations && { annotations }),
        },
      },
    };
  }

  #sourceFor(node: string, hello: Hello): DesiredSource {
    const { informers, sealer, restore } = this.#options;
    const isHostBeyond = sealer.isBeyond(hello);
    const canGiveBack = hello.features.includes(GIVE_BACK);
    const kinds = { config: hello.features.includes(CONFIG_OBJECTS) };
    return {
      object: (uid) => this.#objects.object(node, uid, kinds),
      objects: () => this.#objects.objects(node, kinds),
      revision: () => informers.revision,
      encode: (object) =>
        isConfigObject(object) ? encodeConfig(object) : encodeDesired(object, node, sealer),
      unknown: (digest, wasAsked) =>
        unknownPodVerdict({
          isHostBeyond,
          canBeAsked: canGiveBack && digest !== '' && !wasAsked,
          isUnconfirmed: restore?.unconfirmed() !== undefined,
        }),
    };
  }

  #sessionOf(node: string): Session | undefined {
    const session = this.#live.get(node)?.session;
    return session?.phase === 'live' ? session : undefined;
  }

  /** True when the session was its node's. */
  #release(session: Session): boolean {
    if (this.#live.get(session.node)?.session !== session) return false;
    return this.#live.delete(session.node);
  }

  /** The object of an Event, if the node may speak of it. */
  #ownObject(node: string, { kind, uid }: ReportedEvent['involvedObject']): Node | Pod | undefined {
    const { informers } = this.#options;
    if (kind === 'Node') return informers.nodes.get({ name: node });
    const pod = kind === 'Pod' && uid ? informers.pods.byUid(uid) : undefined;
    return pod?.spec.nodeName === node ? pod : undefined;
  }

  #nodeChanged({ previous, current }: ObjectChange<Node>): void {
    const { presence, clusterUID } = this.#options;
    if (current) {
      presence.expect(current.metadata.name);
      return;
    }
    if (!previous) return;
    const entry = this.#live.get(previous.metadata.name);
    // Deleted and made anew: the news of the deletion is old.
    if (entry && entry.nodeUid !== previous.metadata.uid) return;
    presence.forget(previous.metadata.name);
    entry?.session.goodbye(nodeDeleted(clusterUID));
  }
}
