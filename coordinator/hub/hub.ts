/**
 * The coordinator's end of the agents' links: lets agents in, brings them what their nodes need, writes what they
 * report, and says which nodes are there. Nothing outside this room holds an agent's socket.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { credentialSecretName, ENROLMENT_NAMESPACE } from '../../shared/kube/nodes/node-credential-secret.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
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
import { isSameHash, NodeCredentials, secretField } from './identity/node-credentials.js';
import { nodeOfSubject } from './identity/node-subject.js';
import { createHostReports } from './reports/create-host-reports.js';
import type { HostReports } from './reports/host-reports.js';
import type { MirrorPodSync } from './reports/mirror-pod-sync.js';
import { NodeStatusWriter } from './reports/node-status-writer.js';
import type { RecordEvent } from './reports/record-event.js';
import type { ObjectSigner } from './restore/object-signer.js';
import type { PendingRestore } from './restore/pending-restore.js';
import { ResyncTracker } from './restore/resync-tracker.js';
import { ReturnedPods } from './restore/returned-pods.js';
import { HelloHandler } from './sessions/hello-handler.js';
import { InboundQueue } from './sessions/inbound-queue.js';
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
  /** Handed in since Leases are read from it as well (`nodeLeases`). */
  liveness: NodeLiveness;
  /** Which fleet this is, and which log of it: `store.clusterUID()`, `store.epoch()`. */
  clusterUID: string;
  epoch: string;
  /** Seals what agents are given, and knows the epochs that the store was restored from. */
  signer: ObjectSigner;
  /** Signs hosts' certificates. */
  authority: EnrolmentDeps['authority'] &
    NodeAuthenticatorDeps['authority'] &
    Pick<CertificateAuthority, 'trustBundleToResend'>;
  /** True when each new node waits for a person's word. */
  approveNodes?: boolean;
  /** A restore that a person has yet to confirm; absent when that cannot be. */
  restore?: PendingRestore;
  /** Event recorders by component: the hub's own words, and those it passes on for agents. */
  recordEvent: { asNodeController: RecordEvent; asAgent: RecordEvent };
  clock: Clock;
  log: Logger;
}

const DRAIN_RETRY_MS = 1_000;

export class Hub {
  readonly streams: HostStreams;
  readonly meters: NodeMeters;
  readonly readings: NodeReadings;
  /** Whom this coordinator has heard since its start. */
  readonly resync: ResyncTracker;
  readonly #options: HubOptions;
  readonly #enrolment: Enrolment;
  readonly #signer: CertificateSigner;
  readonly #upgrader: LinkUpgrader;
  readonly #live = new LiveSessions();
  /** All sessions with an open socket, live or not. */
  readonly #sessions = new Set<Session>();
  /** Who hears that a session was sent away. */
  readonly #onRefused = new WeakMap<Session, OnRefused>();
  readonly #inbox: InboundQueue;
  readonly #conditions: NodeStatusWriter;
  readonly #greeter: HelloHandler;
  readonly #reports: HostReports;
  readonly #mirrors: MirrorPodSync;
  /** To whom each thing goes that an agent says. */
  readonly #fromSessions: SessionEvents = {
    hello: (session, hello) => this.#greeter.handle(session, hello),
    status: (session, report) => this.#reports.status(session, report),
    events: (session, items) => this.#reports.events(session, items),
    // The last word of a process that was replaced meanwhile does no harm.
    meters: ({ node }, report) => this.meters.record(node, report),
    reading: ({ node }, payload) => this.readings.record(node, payload),
    renew: ({ node }, csr) => this.#enrolment.renew(node, csr),
    closed: (session, reason, end) => this.#closed(session, reason, end),
  };
  #isStopping = false;
  #whenEmpty: () => void = () => undefined;

  constructor(options: HubOptions) {
    const { registry, informers, liveness: presence, clock, clusterUID } = options;
    this.#inbox = new InboundQueue(clock);
    this.meters = new NodeMeters(clock);
    this.readings = new NodeReadings(clock, presence);
    const log = options.log.child({ component: 'hub' });
    this.#options = { ...options, log };
    const credentials = new NodeCredentials(registry);
    const authenticator = new NodeAuthenticator({ ...options, credentials });
    this.#enrolment = new Enrolment({ ...options, credentials });
    this.#signer = new CertificateSigner({ ...options, credentials, log });
    this.#upgrader = new LinkUpgrader({
      authenticator,
      clusterUID,
      clock,
      accept: (proven, socket, transport, onRefused) => this.accept(proven, socket, transport, onRefused),
      log,
    });
    const lanes = new PerNodeQueue(informers);
    const onMissing = (node: string) => this.#live.get(node)?.session.goodbye(nodeDeletedGoodbye(clusterUID));
    const { recordEvent } = options;
    const shared = { registry, informers, liveness: presence, queue: lanes, live: this.#live, clock, log };
    this.#conditions = new NodeStatusWriter({ ...shared, recordEvent, onMissing });
    const givenBack = new ReturnedPods({ registry, informers, signer: options.signer, log });
    const heard = new ResyncTracker({ ...options, log });
    this.resync = heard;
    const conditions = this.#conditions;
    const { reports, mirrors } = createHostReports({
      ...options,
      ...shared,
      nodeStatus: conditions,
      returnedPods: givenBack,
      resync: heard,
    });
    this.#mirrors = mirrors;
    this.#reports = reports;
    const objects = new NodeObjects(informers, (node, uid) =>
      this.#live.get(node)?.session.sender?.markChanged(uid),
    );
    this.#greeter = new HelloHandler({
      ...options,
      ...shared,
      nodeStatus: conditions,
      returnedPods: givenBack,
      resync: heard,
      objects,
      rightsOf: (node) => this.#enrolment.rightsOf(node),
      recordEvent: recordEvent.asNodeController,
    });
    void options.restore?.confirmed.then(() => this.#reconsider());
    this.streams = new HostStreams(
      (node) => this.#live.sessionOf(node),
      (uid) => mirrors.hostUid(uid),
    );
    presence.onChange((node) => this.#conditions.contactLost(node));
    new NodeChangeHandler({
      ...shared,
      clusterUID,
      credentials,
      sessions: this.#sessions,
      forgetters: [this.#conditions, this.meters, this.readings, heard],
      recordEvent: recordEvent.asAgent,
    }).start();
  }

  /** How many agents are connected. */
  get connected(): number {
    return this.#live.size;
  }

  /** Registers and certifies a host's key by a join token. Throws ApiError. */
  join(call: JoinCall): Promise<JoinOutcome> {
    return this.#enrolment.join(call);
  }

  /** Certifies the key of a host that is known. Throws ApiError. */
  certify(call: JoinCall): Promise<JoinOutcome> {
    return this.#enrolment.certify(call);
  }

  /** True when the certificate's key is that of the node which it names. */
  isRegisteredKey(peer: PeerCertificate): boolean {
    const node = nodeOfSubject(peer);
    if (node === undefined) return false;
    const ref = { namespace: ENROLMENT_NAMESPACE, name: credentialSecretName(node) };
    const secret = this.#options.informers.secrets.get(ref);
    return secret !== undefined && isSameHash(secretField(secret, 'key'), peer.keyHash);
  }

  /** The node whose link was given this bearer, and stands. */
  nodeOfBearer(bearer: string): string | undefined {
    return this.#live.nodeOfBearer(bearer);
  }

  /** This machine's wall clock was set by so much: what hosts tell, and when they were heard, is reckoned by what it shows now. */
  onClockStep(byMs: number): void {
    const { clock, liveness: presence } = this.#options;
    this.#live.onClockStep(byMs);
    presence.onClockStep(byMs);
    this.resync.onClockStep(byMs);
    this.#conditions.onClockStep(byMs);
    void this.#live.sendTime(clock);
  }

  /** The authorities by which the coordinator is known have changed: all agents hear it before they are needed. */
  sendTrustBundle(): void {
    const ca = this.#options.authority.trustBundle();
    for (const { session } of this.#live.all()) {
      if (session.acceptsCertificates) session.send({ kind: 'certified', ca });
    }
  }

  /** Takes over the socket of an upgrade at LINK_PATH: an agent's link, or a refusal with a Status. */
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    onRefused: OnRefused = () => undefined,
  ): void {
    void this.#upgrader.upgrade(request, socket, head, onRefused);
  }

  /** Takes over the WebSocket of an agent whose credential proved which node it is. */
  accept(proven: ProvenNode, socket: WebSocket, transport: Duplex, onRefused?: OnRefused): void {
    const meter = this.meters.connection(proven.node);
    const { clock } = this.#options;
    const session = new Session(
      proven,
      { socket, transport, inbox: this.#inbox, meter, clock },
      this.#fromSessions,
    );
    this.#sessions.add(session);
    if (onRefused) this.#onRefused.set(session, onRefused);
  }

  /** Sends all agents away for a moment and resolves when they are gone. Nothing is written about it. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#upgrader.close();
    this.#options.liveness.stop();
    this.#conditions.stop();
    this.resync.stop();
    this.#signer.stop();
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

  #reconsider(): void {
    for (const { session } of this.#live.all()) session.sender?.recheckUnknown();
  }

  #closed(session: Session, reason: string, end: LinkEnd): void {
    this.#sessions.delete(session);
    const { node, remoteAddress, refusal } = session;
    if (refusal) this.#onRefused.get(session)?.({ node, remoteAddress, ...refusal });
    const wasLive = this.#live.release(session);
    if (wasLive) this.#mirrors.forget(session.node);
    this.#options.log[wasLive ? 'info' : 'debug']({ node: session.node, reason }, 'agent disconnected');
    if (wasLive && !this.#isStopping) this.#options.liveness.disconnected(session.node, end);
    if (this.#sessions.size === 0) this.#whenEmpty();
  }
}
