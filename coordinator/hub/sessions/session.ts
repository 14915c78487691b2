/** The link of one agent: its phase, and which messages are allowed in it. Handlers decide what a message does. */
import {
  type HeartbeatConfig,
  heartbeatConfigOf,
  STANDARD_HEARTBEAT,
} from '../../../shared/kube/nodes/heartbeat-config.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { ownText } from '../../../shared/kube/objects/own-text.js';
import type { SharedMessage } from '../../../shared/link/encoding/frame-codec.js';
import { ProtocolError } from '../../../shared/link/encoding/schema-combinators.js';
import { KUBELET } from '../../../shared/link/link-features.js';
import type {
  FromAgent,
  FromHub,
  Goodbye,
  Hello,
  MetersReport,
  ReportedEvent,
  RequestServing,
  ServiceInterest,
  ServingIssued,
  StatusReport,
  StreamRequest,
} from '../../../shared/link/messages/link-messages.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { type LinkEnd, linkEnd } from '../../decisions/nodes/link-end.js';
import type { DesiredSender } from '../desired/desired-sender.js';
import type { ProvenNode } from '../identity/node-authenticator.js';
import { AgentStreams } from '../streams/agent-streams.js';
import { AgentSocket, type AgentSocketDeps, DRAIN_MS, type Refusal } from './agent-socket.js';

/** `draining`: a goodbye was sent, and the socket has a short time to deliver it. */
type SessionState =
  | { phase: 'greeting'; hello?: Hello }
  | {
      phase: 'live';
      instanceID: string;
      servesKubelet: boolean;
      sender: DesiredSender;
      isReporting: boolean;
      isRenewing: boolean;
      /** Monotonic time of the last request for a serving certificate. */
      servingRequestedAt: number;
    }
  | { phase: 'draining' }
  | { phase: 'closed' };

type LiveState = Extract<SessionState, { phase: 'live' }>;

export interface SessionEvents {
  /** Called once, for the agent's hello. */
  hello(session: Session, hello: Hello): void;
  /** Resolves when the report is committed. */
  status(session: Session, report: StatusReport): Promise<void>;
  events(session: Session, items: ReportedEvent[]): void;
  /** Receives the resource use of the agent's process. */
  meters(session: Session, report: MetersReport): void;
  reading(session: Session, payload: Uint8Array): void;
  /** The host asks for Services, or no longer needs them. */
  serviceInterest(session: Session, interest: ServiceInterest): void;
  /** Resolves with the new certificate in PEM. Rejects with ApiError. */
  renew(session: Session, csr: string): Promise<string>;
  /** Resolves with a certificate for the kubelet's port. Rejects with ApiError. */
  issueServing(session: Session, request: RequestServing): Promise<Omit<ServingIssued, 'kind'>>;
  /** Called exactly once, when the socket is closed. */
  closed(session: Session, reason: string, end: LinkEnd): void;
}

/** Time limit from the upgrade to the hello. */
const HELLO_TIMEOUT_MS = 15_000;
/** Retry delay for an agent that violated the protocol, because it will probably do so again. */
const VIOLATION_RETRY_MS = 10_000;
/** An agent repeats a request for a serving certificate after a minute. More requests would only cost signatures. */
const SERVING_INTERVAL_MS = 30_000;

export class Session {
  readonly node: string;
  readonly keyHash: string;
  readonly bearer: string | undefined;
  readonly #socket: AgentSocket;
  readonly #events: SessionEvents;
  readonly #clock: Clock;
  /** Undefined after the hello. */
  #helloTimer: Timer | undefined;
  #streams: AgentStreams | undefined;
  #state: SessionState = { phase: 'greeting' };
  #pace = STANDARD_HEARTBEAT;

  constructor({ node, hash, bearer }: ProvenNode, deps: AgentSocketDeps, events: SessionEvents) {
    this.node = node;
    this.keyHash = hash;
    this.bearer = bearer;
    this.#events = events;
    this.#clock = deps.clock;
    this.#socket = new AgentSocket(deps, {
      received: (message) => this.#dispatch(message),
      reading: (payload) => events.reading(this, payload),
      violated: (message) => this.#violated(message),
      closed: (end) => this.#closed(end),
    });
    this.#helloTimer = deps.clock.after(HELLO_TIMEOUT_MS, () => {
      if (this.#state.phase === 'greeting') this.#socket.terminate('no hello');
    });
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress;
  }

  get phase(): SessionState['phase'] {
    return this.#state.phase;
  }

  /** Why the agent was refused: an invalid frame, or a goodbye that refuses. Undefined if it was not refused. */
  get refusal(): Refusal | undefined {
    return this.#socket.refusal;
  }

  /** Identifies the agent process. Undefined unless live. */
  get instanceID(): string | undefined {
    return this.#state.phase === 'live' ? this.#state.instanceID : undefined;
  }

  /** Applies the heartbeat settings of the Node, and sends them to the agent if they have changed. */
  setPace({ metadata }: Node): void {
    const pace = heartbeatConfigOf(metadata);
    if (this.#state.phase !== 'live' || isSamePace(pace, this.#pace)) return;
    this.send({ kind: 'heartbeatConfig', ...pace });
    this.#pace = pace;
    this.#socket.setPace(pace);
  }

  /** Milliseconds since anything was received from the agent. */
  quietMs(): number {
    return this.#socket.quietMs();
  }

  /** Bytes of sent messages that the operating system has not accepted yet. */
  queuedBytes(): number {
    return this.#socket.queuedBytes();
  }

  /** Queues a message. Ignored after the end of the session. */
  send(message: FromHub): void {
    if (this.#state.phase === 'greeting' || this.#state.phase === 'live') this.#socket.send(message);
  }

  /** Queues a message that many agents receive. Ignored unless live. */
  sendShared(shared: SharedMessage<FromHub>): void {
    if (this.#state.phase === 'live') this.#socket.sendShared(shared);
  }

  becomeLive({ instanceID, features }: Pick<Hello, 'instanceID' | 'features'>, sender: DesiredSender): void {
    if (this.#state.phase !== 'greeting') return;
    const servesKubelet = features.includes(KUBELET);
    this.#state = {
      phase: 'live',
      ...{ instanceID: ownText(instanceID), servesKubelet, sender },
      isReporting: false,
      isRenewing: false,
      servingRequestedAt: Number.NEGATIVE_INFINITY,
    };
  }

  /** Sends the desired state to the agent. Undefined unless live. */
  get sender(): DesiredSender | undefined {
    return this.#state.phase === 'live' ? this.#state.sender : undefined;
  }

  /** Opens a stream on the host. Rejects with ApiError when the host refuses. */
  async openStream(
    request: StreamRequest,
    input: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    // An older agent would end the link at an unknown request.
    if (request.type === 'kubelet' && !(this.#state.phase === 'live' && this.#state.servesKubelet))
      throw new ApiError(
        'ServiceUnavailable',
        `the agent of node "${this.node}" is too old to serve the kubelet's pages: upgrade it`,
      );
    this.#streams ??= new AgentStreams({
      send: (message) => this.send(message),
      sendDrained: (message) =>
        this.#state.phase === 'live' ? this.#socket.sendDrained(message) : Promise.resolve(),
      now: () => this.#clock.monotonic(),
    });
    return this.#streams.open(request, input, signal);
  }

  /** Resolves to true if the agent answers a ping in time. */
  isAlive(): Promise<boolean> {
    return this.#state.phase === 'live' ? this.#socket.isAlive() : Promise.resolve(false);
  }

  /** Sends a goodbye and closes the socket, after `drainMs` at the latest. */
  goodbye(goodbye: Omit<Goodbye, 'kind'>, drainMs = DRAIN_MS): void {
    if (this.#state.phase !== 'greeting' && this.#state.phase !== 'live') return;
    this.send({ kind: 'goodbye', ...goodbye });
    const { reason, message } = goodbye;
    this.#state = { phase: 'draining' };
    const refusal = reason === 'refused' ? { code: 403, reason: message } : undefined;
    this.#socket.close(`goodbye: ${reason}`, { drainMs, refusal });
  }

  #dispatch(message: FromAgent): void {
    const state = this.#state;
    switch (state.phase) {
      case 'greeting':
        if (message.kind !== 'hello' || state.hello)
          throw new ProtocolError(`${message.kind} before the welcome`);
        state.hello = message;
        this.#helloTimer?.cancel();
        this.#helloTimer = undefined;
        this.#events.hello(this, message);
        return;
      case 'live':
        this.#dispatchLive(message, state);
        return;
      case 'draining':
      case 'closed':
        return;
    }
  }

  #dispatchLive(message: FromAgent, state: LiveState): void {
    switch (message.kind) {
      case 'hello':
        throw new ProtocolError('a second hello');
      case 'applied':
        acceptApplied(state, message.id);
        return;
      case 'status':
        if (state.isReporting)
          throw new ProtocolError('a status report before the previous one was acknowledged');
        state.isReporting = true;
        if (message.applied !== undefined) acceptApplied(state, message.applied);
        void this.#report(message, state);
        return;
      case 'events':
        this.#events.events(this, message.items);
        return;
      case 'meters':
        this.#events.meters(this, message);
        return;
      case 'serviceInterest':
        this.#events.serviceInterest(this, message);
        return;
      case 'renew':
        void this.#renew(state, async () => ({
          kind: 'certified',
          certificate: await this.#events.renew(this, message.csr),
        }));
        return;
      case 'requestServing':
        if (this.#clock.monotonic() - state.servingRequestedAt < SERVING_INTERVAL_MS) return;
        state.servingRequestedAt = this.#clock.monotonic();
        void this.#renew(state, async () => ({
          kind: 'servingIssued',
          ...(await this.#events.issueServing(this, message)),
        }));
        return;
      case 'streamStarted':
      case 'streamData':
      case 'streamArrived':
      case 'streamCredit':
      case 'streamClose':
        if (this.#streams?.receive(message) === false) throw new ProtocolError('more bytes than granted');
        return;
    }
  }

  /** Acknowledges a report once it is committed. An unacknowledged report is sent again. */
  async #report(report: StatusReport, state: LiveState): Promise<void> {
    try {
      await this.#events.status(this, report);
    } catch {
      this.#socket.terminate('report not stored');
      return;
    }
    state.isReporting = false;
    this.send({ kind: 'statusAck', id: report.id });
  }

  /** Issues one certificate at a time: an agent must not make the coordinator sign without pause. */
  async #renew(state: LiveState, issue: () => Promise<FromHub>): Promise<void> {
    if (state.isRenewing) return;
    state.isRenewing = true;
    try {
      this.send(await issue());
    } catch (error) {
      if (error instanceof ApiError && error.code < 500) this.#violated(error.message);
      else this.#socket.terminate('certificate not issued');
    } finally {
      state.isRenewing = false;
    }
  }

  /** Disconnects an agent that violated the protocol, with the reason. It may reconnect later. */
  #violated(message: string): void {
    this.goodbye({ reason: 'refused', message: message.slice(0, 1_000), retryMs: VIOLATION_RETRY_MS });
  }

  #closed({ reason, code, wasSilent }: { reason: string; code: number; wasSilent: boolean }): void {
    const wasDismissed = this.#state.phase === 'draining';
    this.#state = { phase: 'closed' };
    this.#helloTimer?.cancel();
    this.#streams?.closeAll();
    this.#events.closed(this, reason, linkEnd(code, { wasSilent, wasDismissed }));
  }
}

function acceptApplied({ sender }: LiveState, id: number): void {
  if (!sender.applied(id)) throw new ProtocolError('applied without a matching difference');
}

function isSamePace(one: HeartbeatConfig, other: HeartbeatConfig): boolean {
  return (
    one.heartbeatMs === other.heartbeatMs && one.batchMs === other.batchMs && one.compress === other.compress
  );
}
