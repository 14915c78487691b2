/** The protocol over one connection, from the hello to its end. The link decides when to connect. */
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import {
  APPLIED_IN_STATUS,
  CERTIFICATES,
  CHANNELS,
  COORDINATORS,
  FEATURES,
  HOST_HANDOVERS,
  METERS,
  SERVICES,
  SERVING,
} from '../../shared/link/link-features.js';
import type { LinkMeter } from '../../shared/link/link-meter.js';
import type { Desired, FromHub, Goodbye, Hello, Welcome } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { DesiredChanges } from './desired-changes.js';
import { HubConnection } from './hub-connection.js';
import type {
  Fleet,
  LinkCertificateHandler,
  LinkDelegate,
  LinkServiceHandler,
  LinkServingHandler,
} from './link-delegate.js';
import type { LinkTarget } from './link-target.js';
import type { Outbox, OutboxSession } from './outbox.js';
import { OutgoingStreams } from './outgoing-streams.js';
import type { ProcessCostReports } from './process-cost-reports.js';

interface LinkSessionDeps {
  target: LinkTarget;
  delegate: LinkDelegate;
  outbox: Outbox;
  /** Absent if the target's certificate is not renewed. */
  certificates: LinkCertificateHandler | undefined;
  /** Absent if this agent serves no cluster DNS. */
  services: LinkServiceHandler | undefined;
  /** Absent if this agent does not serve the kubelet's port. */
  serving: LinkServingHandler | undefined;
  /** Absent for simulated hosts. */
  costs: ProcessCostReports | undefined;
  /** Returns the host's load; absent: heartbeats carry none. */
  load: (() => HeartbeatReading) | undefined;
  clock: Clock;
  log: Logger;
}

/** Events that change the link's state. None follows after `end`. */
interface LinkSessionEvents {
  /** The hub waits for the hello. */
  onOpen(): void;
  /** The hub accepted the hello. Reports are sent when this call returns. */
  onWelcome(welcome: Welcome): void;
  /** The hub belongs to another fleet and is ignored. */
  onOtherFleet(): void;
  onGoodbye(goodbye: Goodbye): void;
  /** The connection is closed; `code` is the HTTP status of a refused upgrade. */
  onClose(reason: string, code?: number): void;
}

/** Fields of the hello that the delegate does not know. */
type Introduction = Pick<
  Hello,
  'node' | 'bootID' | 'instanceID' | 'agentVersion' | 'nodeUid' | 'hostTimeMs' | 'wallTimeMs'
>;

export class LinkSession {
  readonly #deps: LinkSessionDeps;
  readonly #events: LinkSessionEvents;
  readonly #connection: HubConnection;
  readonly #streams: OutgoingStreams;
  readonly #changes: DesiredChanges;
  /** Known from the welcome on. */
  #fleet: Fleet | undefined;
  /** Requests a new certificate, if the hub issues any. */
  #issuesServing = false;
  #requestCertificate: ((csr: string) => void) | undefined;
  #hasEnded = false;
  #outboxSession: OutboxSession | undefined;

  /** Starts to connect. */
  constructor(deps: LinkSessionDeps, meter: LinkMeter, events: LinkSessionEvents) {
    const { target, delegate, load, clock, log } = deps;
    this.#deps = deps;
    this.#events = events;
    this.#changes = new DesiredChanges(delegate, log);
    this.#connection = new HubConnection(
      target,
      {
        onOpen: () => this.#hasEnded || events.onOpen(),
        onMessage: (message) => this.#hasEnded || this.#received(message),
        onClose: (reason, code) => this.#hasEnded || events.onClose(reason, code),
        ...(load ? { readLoad: load } : {}),
      },
      clock,
      meter,
    );
    this.#streams = new OutgoingStreams(
      this.#connection,
      (request, input, signal) => delegate.openStream(request, input, signal),
      () => clock.monotonic(),
    );
  }

  /** Returns the time since the last bytes from the hub, ms. */
  silentMs(): number {
    return this.#connection.silentMs();
  }

  /** Returns the time from a ping to its pong, ms; undefined before the first pong. */
  get roundTripMs(): number | undefined {
    return this.#connection.roundTripMs;
  }

  /** Sends a ping at once, so that a reachable hub responds soon. */
  ping(): void {
    this.#connection.ping();
  }

  sendHello(introduction: Introduction): void {
    const { target, delegate, services } = this.#deps;
    const isUsable = (feature: string) =>
      (feature !== SERVICES || services !== undefined) &&
      (feature !== SERVING || this.#deps.serving !== undefined) &&
      (feature !== COORDINATORS || target.addresses !== undefined);
    this.#connection.send({
      kind: 'hello',
      ...introduction,
      ...delegate.resumePoint(),
      features: FEATURES.filter(isUsable),
      register: delegate.registration(),
      status: delegate.nodeStatus(),
    });
  }

  /** Ends the session. `isStop` closes the connection so that the hub does not count it as a crash. */
  end(isStop: boolean): void {
    this.#hasEnded = true;
    this.#streams.closeAll();
    if (isStop) this.#connection.closeGracefully();
    else this.#connection.end('left');
  }

  /** Stops all Pods after the Node was deleted, including those of changes still in progress. */
  dropAllPods(goodbye: Goodbye): Promise<void> {
    return this.#changes.dropAllPods(goodbye, this.#fleet);
  }

  #received(message: FromHub): void {
    const { delegate, outbox, certificates, services } = this.#deps;
    switch (message.kind) {
      case 'welcome':
        this.#welcomed(message);
        return;
      case 'heartbeatConfig':
        this.#connection.applyHeartbeatConfig(message);
        outbox.setDebounceMs(message.batchMs);
        return;
      case 'time':
        if (this.#fleet) this.#onCoordinatorTime(message.serverTimeMs);
        return;
      case 'coordinators':
        if (this.#fleet) this.#deps.target.addresses?.learn(message.coordinators);
        return;
      case 'desired':
        if (this.#fleet) void this.#apply(message, this.#fleet);
        return;
      case 'returnRequest':
        for (const uid of message.uids) outbox.putReturned(delegate.returnObject(uid));
        return;
      case 'prefetchImages':
        delegate.prefetchImages(message.images);
        return;
      case 'statusAck':
        outbox.acknowledge(message.id);
        return;
      case 'goodbye':
        this.#events.onGoodbye(message);
        return;
      case 'serviceViews':
        services?.onViews(message);
        return;
      case 'endpointChanges':
        services?.onEndpointChanges(message);
        return;
      case 'certified':
        certificates?.onCertified(message);
        return;
      case 'servingIssued':
        this.#deps.serving?.onIssued(message);
        return;
      case 'streamOpen':
      case 'streamData':
      case 'streamArrived':
      case 'streamCredit':
      case 'streamClose':
        if (!this.#streams.receive(message)) this.#connection.end('more bytes than granted');
        return;
    }
  }

  #welcomed(welcome: Welcome): void {
    const { delegate, outbox, costs, log } = this.#deps;
    const { clusterUID, epoch, features } = welcome;
    const ours = delegate.resumePoint().clusterUID;
    if (ours !== undefined && ours !== clusterUID) {
      log.error({ ours, theirs: clusterUID }, 'coordinator belongs to another fleet: nothing is changed');
      this.#events.onOtherFleet();
      return;
    }
    this.#fleet = { clusterUID, epoch: epoch };
    const connection = this.#connection;
    connection.setHeartbeatIntervalMs(welcome.heartbeatIntervalMs);
    if (features.includes(CHANNELS)) this.#streams.enablePacing();
    this.#events.onWelcome(welcome);
    outbox.setDebounceMs(0);
    this.#outboxSession = {
      send: (message) => connection.send(message),
      mergesApplied: features.includes(APPLIED_IN_STATUS),
      ...(features.includes(HOST_HANDOVERS) && {
        onHandoversAcknowledged: (uids) => delegate.onHandoversAcknowledged(uids),
      }),
    };
    outbox.startSession(this.#outboxSession);
    if (features.includes(METERS)) costs?.start((report) => connection.send(report));
    if (features.includes(SERVICES)) this.#deps.services?.onLive((interest) => connection.send(interest));
    this.#issuesServing = features.includes(SERVING);
    if (features.includes(CERTIFICATES))
      this.#requestCertificate = (csr) => connection.send({ kind: 'renew', csr });
    this.#renewBy(welcome.serverTimeMs);
  }

  /** Rollout windows and renewals follow the hub's clock, which was set. */
  #onCoordinatorTime(serverTimeMs: number): void {
    this.#deps.delegate.onCoordinatorTime(serverTimeMs);
    this.#renewBy(serverTimeMs);
  }

  #renewBy(serverTimeMs: number): void {
    const { certificates, serving } = this.#deps;
    certificates?.onLive(serverTimeMs, this.#requestCertificate);
    if (!this.#issuesServing) return;
    serving?.onLive(serverTimeMs, (request) => this.#connection.send({ kind: 'requestServing', ...request }));
  }

  async #apply(desired: Desired, fleet: Fleet): Promise<void> {
    try {
      await this.#changes.apply(desired, fleet);
      if (this.#outboxSession) this.#deps.outbox.putApplied(desired.id, this.#outboxSession);
    } catch (error) {
      this.#deps.log.error({ err: error }, 'desired objects cannot be stored');
      this.#connection.end('desired objects cannot be stored');
    }
  }
}
