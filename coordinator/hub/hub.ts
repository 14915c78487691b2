/**
 * The coordinator's end of the agents' links: lets agents in, brings them what their nodes need, writes what they
 * report, and says which nodes are there. Nothing outside this room holds an agent's socket.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Secret } from '../../shared/kube/config.js';
import type { Node } from '../../shared/kube/node.js';
import {
  type Hello,
  JOIN_SEAL_HEADER,
  type JoinAnswer,
  type PodReport,
  type ReportedEvent,
  type StatusReport,
} from '../../shared/link/messages.js';
import type { Clock } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import type { Informers, ObjectChange } from '../informers/informer.js';
import type { Registry } from '../registry/registry.js';
import { nodeDeleted } from './admission.js';
import { Enrolment, type JoinCall, nodeOfCredential } from './enrolment.js';
import { GivenBack } from './given-back.js';
import { Greeter } from './greeter.js';
import { HostReports } from './host-reports.js';
import { tellImagesToHold } from './images-to-hold.js';
import { Inbox } from './inbox.js';
import { LiveSessions } from './live-sessions.js';
import { MirrorPods } from './mirror-pods.js';
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

const DRAIN_RETRY_MS = 1_000;
/** A revoked host may have been given a new credential by its next try. */
const REVOKED_RETRY_MS = 10_000;

export class Hub implements SessionEvents {
  readonly streams: PodStreams;
  readonly #options: HubOptions;
  readonly #enrolment: Enrolment;
  readonly #upgrader: Upgrader;
  readonly #live = new LiveSessions();
  /** All sessions with an open socket, live or not. */
  readonly #sessions = new Set<Session>();
  readonly #inbox: Inbox;
  readonly #conditions: NodeConditions;
  readonly #greeter: Greeter;
  readonly #reports: HostReports;
  readonly #mirrors: MirrorPods;
  #isStopping = false;
  #whenEmpty: () => void = () => undefined;

  constructor(options: HubOptions) {
    const { registry, informers, presence, clock, clusterUID } = options;
    this.#inbox = new Inbox(clock);
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
    const lanes = new NodeLanes(informers);
    const onMissing = (node: string) => this.#live.get(node)?.session.goodbye(nodeDeleted(clusterUID));
    const { recordEvent } = options;
    const shared = { registry, informers, presence, lanes, live: this.#live, clock, log };
    this.#conditions = new NodeConditions({ ...shared, recordEvent, onMissing });
    const statusWriter = new StatusWriter({ ...shared, nodeConditions: this.#conditions });
    const givenBack = new GivenBack({ registry, informers, sealer: options.sealer, log });
    this.#mirrors = new MirrorPods(shared, (node, pods) => this.#writeStatuses(statusWriter, node, pods));
    const mirrors = this.#mirrors;
    this.#reports = new HostReports({
      ...shared,
      statusWriter,
      givenBack,
      mirrors,
      recordEvent: recordEvent.asAgent,
    });
    const objects = new NodeObjects(informers, (node, uid) => this.#live.get(node)?.session.touch(uid));
    this.#greeter = new Greeter({
      ...options,
      ...shared,
      conditions: this.#conditions,
      givenBack,
      objects,
      recordEvent: recordEvent.asNodeController,
    });
    void options.restore?.confirmed.then(() => this.#reconsider());
    this.streams = new PodStreams(
      (node) => this.#live.sessionOf(node),
      (uid) => mirrors.hostUid(uid),
    );
    presence.onChange((node) => this.#conditions.outOfContact(node));
    informers.nodes.onChange((change) => this.#nodeChanged(change));
    informers.secrets.onChange((change) => this.#secretChanged(change));
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
    this.#sessions.add(new Session(node, socket, transport, this, this.#inbox, this.#options.clock));
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
    this.#greeter.hello(session, hello);
  }

  status(session: Session, report: StatusReport): Promise<void> {
    return this.#reports.status(session, report);
  }

  events(session: Session, items: ReportedEvent[]): void {
    this.#reports.events(session, items);
  }

  /** Statuses that were reported before their mirrors were there. */
  async #writeStatuses(writer: StatusWriter, node: string, reports: readonly PodReport[]): Promise<void> {
    const offsetMs = this.#live.get(node)?.offsetMs ?? 0;
    const pods = reports.map((report) => this.#mirrors.underStoredUid(node, report));
    await writer.write({ node, offsetMs }, { pods, removed: [] });
  }

  #reconsider(): void {
    for (const { session } of this.#live.all()) session.reconsider();
  }

  closed(session: Session, reason: string): void {
    this.#sessions.delete(session);
    const wasLive = this.#live.release(session);
    if (wasLive) this.#mirrors.forget(session.node);
    this.#options.log[wasLive ? 'info' : 'debug']({ node: session.node, reason }, 'agent disconnected');
    if (wasLive && !this.#isStopping) this.#options.presence.disconnected(session.node);
    if (this.#sessions.size === 0) this.#whenEmpty();
  }

  #nodeChanged({ previous, current }: ObjectChange<Node>): void {
    const { presence, clusterUID } = this.#options;
    if (current) {
      presence.expect(current.metadata.name);
      const live = this.#live.get(current.metadata.name);
      if (live) tellImagesToHold(live, current);
      return;
    }
    if (!previous) return;
    const entry = this.#live.get(previous.metadata.name);
    // Deleted and made anew: the news of the deletion is old.
    if (entry && entry.nodeUid !== previous.metadata.uid) return;
    presence.forget(previous.metadata.name);
    entry?.session.goodbye(nodeDeleted(clusterUID));
  }

  /** A credential is revoked by deleting its Secret: who is connected by it has to prove itself anew. */
  #secretChanged({ previous, current }: ObjectChange<Secret>): void {
    const node = previous && !current ? nodeOfCredential(previous.metadata) : undefined;
    if (node === undefined) return;
    this.#live.get(node)?.session.goodbye({
      reason: 'refused',
      message: 'the credential of this node was revoked',
      retryMs: REVOKED_RETRY_MS,
    });
  }
}
