/**
 * The coordinator's end of the links to agents. It admits agents, sends them the desired state of their nodes, stores
 * their reports, and tracks which nodes are connected. No code outside this folder accesses an agent's socket.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { RecordEvent } from '../decisions/events/event-occurrence.js';
import type { LinkEnd } from '../decisions/nodes/link-end.js';
import type { Informers } from '../informers/informer.js';
import type { CertificateAuthority } from '../pki/certificate-authority.js';
import type { PeerCertificate } from '../pki/peer-certificate.js';
import type { Registry } from '../registry/registry.js';
import { NodeObjects } from './desired/node-objects.js';
import { CertificateSigner } from './identity/certificate-signer.js';
import { Enrolment, type EnrolmentDeps, type JoinOutcome } from './identity/enrolment.js';
import type { JoinCall } from './identity/join-candidate.js';
import {
  NodeAuthenticator,
  type NodeAuthenticatorDeps,
  type ProvenNode,
} from './identity/node-authenticator.js';
import { cachedKeyHash, isSameHash, NodeCredentials } from './identity/node-credentials.js';
import { nodeOfSubject } from './identity/node-subject.js';
import { issueServing, type ServingAuthority } from './identity/serving-issuer.js';
import { HostReports } from './reports/host-reports.js';
import { NodeStatusWriter } from './reports/node-status-writer.js';
import type { ObjectSigner } from './restore/object-signer.js';
import { ResyncTracker } from './restore/resync-tracker.js';
import type { PendingRestore } from './restore/returned-pods.js';
import { ReturnedPods } from './restore/returned-pods.js';
import { ServicePublisher } from './services/service-publisher.js';
import { type CoordinatorList, CoordinatorListSender } from './sessions/coordinator-list-sender.js';
import { HelloHandler } from './sessions/hello-handler.js';
import { InboundQueue } from './sessions/inbound-queue.js';
import type { LinkSocket, LinkTransport } from './sessions/link-socket.js';
import { LinkUpgrader, type OnRefused } from './sessions/link-upgrade.js';
import { LiveSessions } from './sessions/live-sessions.js';
import { NodeChangeHandler } from './sessions/node-change-handler.js';
import type { NodeLiveness } from './sessions/node-liveness.js';
import { PerNodeQueue } from './sessions/per-node-queue.js';
import { Session, type SessionEvents } from './sessions/session.js';
import { nodeDeletedGoodbye } from './sessions/session-admission.js';
import { HostStreams } from './streams/host-streams.js';
import { NodeMeters } from './telemetry/node-meters.js';
import { NodeReadings } from './telemetry/node-readings.js';

export interface HubOptions {
  registry: Registry;
  informers: Informers;
  /** Passed in because Leases are computed from it as well (`nodeLeases`). */
  liveness: NodeLiveness;
  /** Identify the fleet and the history of its store: `store.clusterUID()`, `store.epoch()`. */
  clusterUID: string;
  epoch: string;
  /** Signs the objects that agents receive, and knows the epochs that the store was restored from. */
  signer: ObjectSigner;
  authority: EnrolmentDeps['authority'] &
    NodeAuthenticatorDeps['authority'] &
    Pick<CertificateAuthority, 'trustBundleToResend'> &
    ServingAuthority;
  /** True if an operator has to approve each new node. */
  approveNodes?: boolean;
  /** The addresses that agents learn. Absent if there is one coordinator. */
  coordinators?: CoordinatorList;
  /** A restore that an operator has not confirmed yet. Absent if restores are not possible. */
  restore?: PendingRestore;
  /** Event recorders by component: for the hub's own Events, and for Events that agents report. */
  recordEvent: { asNodeController: RecordEvent; asAgent: RecordEvent };
  clock: Clock;
  log: Logger;
}

const DRAIN_RETRY_MS = 1_000;

export class Hub {
  readonly streams: HostStreams;
  readonly meters: NodeMeters;
  readonly readings: NodeReadings;
  /** Sends hosts the Services that their Pods need. */
  readonly services: ServicePublisher;
  /** Tracks which hosts have resynced since the coordinator's start. */
  readonly resync: ResyncTracker;
  readonly #options: HubOptions;
  readonly #enrolment: Enrolment;
  readonly #signer: CertificateSigner;
  /** Admits links; also those whose connection ends in a link thread. */
  readonly upgrader: LinkUpgrader;
  readonly #live = new LiveSessions();
  /** All sessions with an open socket, live or not. */
  readonly #sessions = new Set<Session>();
  readonly #onRefused = new WeakMap<Session, OnRefused>();
  readonly #nodeChanges: NodeChangeHandler;
  readonly #inbound: InboundQueue;
  readonly #nodeStatus: NodeStatusWriter;
  readonly #hellos: HelloHandler;
  readonly #reports: HostReports;
  /** Routes the messages of agents to their handlers. */
  readonly #fromSessions: SessionEvents = {
    hello: (session, hello) => this.#hellos.handle(session, hello),
    status: (session, report) => this.#reports.status(session, report),
    events: (session, items) => this.#reports.events(session, items),
    // The last report of a replaced process is harmless.
    meters: ({ node }, report) => this.meters.record(node, report),
    reading: ({ node }, payload) => this.readings.record(node, payload),
    serviceInterest: (session, interest) => this.services.received(session, interest),
    renew: ({ node }, csr) => this.#enrolment.renew(node, csr),
    issueServing: ({ node }, request) => issueServing(this.#options, node, request),
    closed: (session, reason, end) => this.#closed(session, reason, end),
  };
  #isStopping = false;
  #whenEmpty: () => void = () => undefined;

  constructor(options: HubOptions) {
    const { registry, informers, liveness, clock, clusterUID } = options;
    this.#inbound = new InboundQueue(clock);
    this.meters = new NodeMeters(clock);
    this.readings = new NodeReadings(clock, liveness);
    const log = options.log.child({ component: 'hub' });
    this.#options = { ...options, log };
    this.services = new ServicePublisher({ informers, clock, log });
    const credentials = new NodeCredentials(registry);
    const authenticator = new NodeAuthenticator({ ...options, credentials });
    this.#enrolment = new Enrolment({ ...options, credentials });
    this.#signer = new CertificateSigner({ ...options, credentials, log });
    this.upgrader = new LinkUpgrader({
      authenticator,
      clusterUID,
      clock,
      accept: (...admitted) => {
        void this.#nodeChanges.recheckCredential(this.accept(...admitted));
      },
      log,
    });
    const onMissing = (node: string) => this.#live.get(node)?.session.goodbye(nodeDeletedGoodbye(clusterUID));
    const { recordEvent } = options;
    const queue = new PerNodeQueue(informers);
    const shared = { ...options, queue, live: this.#live, log };
    const returnedPods = new ReturnedPods(shared);
    this.#nodeStatus = new NodeStatusWriter({ ...shared, onMissing });
    this.resync = new ResyncTracker(shared);
    const reporting = { ...shared, nodeStatus: this.#nodeStatus, returnedPods, resync: this.resync };
    this.#reports = new HostReports({ ...reporting, recordEvent: recordEvent.asAgent });
    const objects = new NodeObjects(informers, (node, uid) =>
      this.#live.get(node)?.session.sender?.markChanged(uid),
    );
    this.#hellos = new HelloHandler({
      ...reporting,
      coordinators:
        options.coordinators &&
        new CoordinatorListSender(options.coordinators, this.#live, { clock, log: options.log }),
      objects,
      services: this.services,
      rightsOf: (node) => this.#enrolment.rightsOf(node),
      recordEvent: recordEvent.asNodeController,
    });
    void options.restore?.confirmed.then(() => this.#reconsider());
    this.streams = new HostStreams(
      (node) => this.#live.sessionOf(node),
      (uid) => this.#reports.mirrors.hostUid(uid),
    );
    liveness.onChange((node) => this.#nodeStatus.contactLost(node));
    this.#nodeChanges = new NodeChangeHandler({
      ...shared,
      clusterUID,
      credentials,
      sessions: this.#sessions,
      perNodeState: [this.#nodeStatus, this.meters, this.readings, this.resync],
      recordEvent: recordEvent.asAgent,
    });
    this.#nodeChanges.start();
  }

  get connected(): number {
    return this.#live.size;
  }

  /** Registers and certifies a host's key by a join token. Throws ApiError. */
  join(call: JoinCall): Promise<JoinOutcome> {
    return this.#enrolment.join(call);
  }

  /** Certifies a registered key. Throws ApiError. */
  certify(call: JoinCall): Promise<JoinOutcome> {
    return this.#enrolment.certify(call);
  }

  /** True if the certificate's key is registered for the node that the certificate names. */
  isRegisteredKey(peer: PeerCertificate): boolean {
    const node = nodeOfSubject(peer);
    if (node === undefined) return false;
    return isSameHash(cachedKeyHash(this.#options.informers.secrets, node), peer.keyHash);
  }

  /** Returns the node that received this bearer token, while its link is open. */
  nodeOfBearer(bearer: string): string | undefined {
    return this.#live.nodeOfBearer(bearer);
  }

  /** The wall clock was stepped by `deltaMs`. Reported times and resync times are corrected to the new clock. */
  onClockStep(deltaMs: number): void {
    const { clock, liveness } = this.#options;
    this.#live.onClockStep(deltaMs);
    liveness.onClockStep(deltaMs);
    this.resync.onClockStep(deltaMs);
    this.#nodeStatus.onClockStep(deltaMs);
    void this.#live.sendTime(clock);
  }

  /** Sends the new trust bundle to all agents, before they need it to connect. */
  sendTrustBundle(): void {
    const ca = this.#options.authority.trustBundle();
    for (const { session } of this.#live.all()) {
      session.send({ kind: 'certified', ca });
    }
  }

  /** Takes over the socket of an upgrade at LINK_PATH. The result is an agent's link, or a refusal with a Status. */
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    onRefused: OnRefused = () => undefined,
  ): void {
    void this.upgrader.upgrade(request, socket, head, onRefused);
  }

  /** Takes over the WebSocket of an agent with a proven identity. */
  accept(proven: ProvenNode, socket: LinkSocket, transport: LinkTransport, onRefused?: OnRefused): Session {
    const meter = this.meters.connection(proven.node);
    const { clock } = this.#options;
    const session = new Session(
      proven,
      { socket, transport, inbox: this.#inbound, meter, clock },
      this.#fromSessions,
    );
    this.#sessions.add(session);
    if (onRefused) this.#onRefused.set(session, onRefused);
    return session;
  }

  /** Asks all agents to reconnect later, and resolves when their sockets are closed. Writes nothing to the store. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.upgrader.close();
    this.#options.liveness.stop();
    this.#nodeStatus.stop();
    this.resync.stop();
    this.#signer.stop();
    this.services.stop();
    const goodbye = {
      reason: 'draining',
      message: 'the coordinator is stopping',
      retryMs: DRAIN_RETRY_MS,
    } as const;
    for (const session of this.#sessions) session.goodbye(goodbye);
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
    });
  }

  #reconsider(): void {
    for (const { session } of this.#live.all()) session.sender?.recheckUnknown();
  }

  #closed(session: Session, reason: string, end: LinkEnd): void {
    this.#sessions.delete(session);
    this.services.closed(session);
    const { node, remoteAddress, refusal } = session;
    if (refusal) this.#onRefused.get(session)?.({ node, remoteAddress, ...refusal });
    const wasLive = this.#live.release(session);
    if (wasLive) this.#reports.mirrors.forget(session.node);
    this.#options.log[wasLive ? 'info' : 'debug']({ node: session.node, reason }, 'agent disconnected');
    if (wasLive && !this.#isStopping) this.#options.liveness.disconnected(session.node, end);
    if (this.#sessions.size === 0) this.#whenEmpty();
  }
}
