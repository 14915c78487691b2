/** One agent's link: its state, and what may be said when. What a message means is decided by those it is handed to. */
import { type HeartbeatConfig, STANDARD_HEARTBEAT } from '../../../shared/kube/nodes/heartbeat-config.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { ProtocolError } from '../../../shared/link/encoding/schema-combinators.js';
import { CERTIFICATES, CHANNELS, HEARTBEAT_CONFIG, TIME } from '../../../shared/link/link-features.js';
import type {
  FromAgent,
  FromHub,
  Goodbye,
  Hello,
  MetersReport,
  ReportedEvent,
  StatusReport,
  StreamRequest,
} from '../../../shared/link/messages/link-messages.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { type LinkEnd, linkEnd } from '../../decisions/nodes/link-end.js';
import type { DesiredSender } from '../desired/desired-sender.js';
import type { ProvenNode } from '../identity/node-authenticator.js';
import { AgentStreams } from '../streams/agent-streams.js';
import { AgentSocket, type AgentSocketDeps, DRAIN_MS, type Refusal } from './agent-socket.js';

/** `draining`: goodbye was said, the socket is given a moment to deliver it. */
type SessionState =
  | { phase: 'greeting'; hello?: Hello }
  | {
      phase: 'live';
      instanceID: string;
      features: readonly string[];
      sender: DesiredSender;
      isReporting: boolean;
      isRenewing: boolean;
    }
  | { phase: 'draining' }
  | { phase: 'closed' };

type LiveState = Extract<SessionState, { phase: 'live' }>;

/** To whom a session hands what its agent says. */
export interface SessionEvents {
  /** The agent introduced itself; called once. */
  hello(session: Session, hello: Hello): void;
  /** Resolves when the report is committed. */
  status(session: Session, report: StatusReport): Promise<void>;
  events(session: Session, items: ReportedEvent[]): void;
  /** What its process costs the host. */
  meters(session: Session, report: MetersReport): void;
  /** What a heartbeat carried. */
  reading(session: Session, payload: Uint8Array): void;
  /** Resolves with the new certificate, PEM. Rejects with ApiError. */
  renew(session: Session, csr: string): Promise<string>;
  /** The socket is gone. Called once, whatever happened. */
  closed(session: Session, reason: string, end: LinkEnd): void;
}

/** From the end of the upgrade to the hello. */
const HELLO_TIMEOUT_MS = 15_000;
/** An agent that broke the protocol will do it again; not too often. */
const VIOLATION_RETRY_MS = 10_000;

export class Session {
  readonly node: string;
  readonly keyHash: string;
  readonly bearer: string | undefined;
  readonly #socket: AgentSocket;
  readonly #events: SessionEvents;
  readonly #clock: Clock;
  readonly #helloTimer: Timer;
  #streams: AgentStreams | undefined;
  #state: SessionState = { phase: 'greeting' };
  #pace = STANDARD_HEARTBEAT;

  constructor({ node, hash, bearer }: ProvenNode, parts: AgentSocketDeps, events: SessionEvents) {
    this.node = node;
    this.keyHash = hash;
    this.bearer = bearer;
    this.#events = events;
    this.#clock = parts.clock;
    this.#socket = new AgentSocket(parts, {
      received: (message) => this.#dispatch(message),
      reading: (payload) => events.reading(this, payload),
      violated: (message) => this.#violated(message),
      closed: (end) => this.#closed(end),
    });
    this.#helloTimer = parts.clock.after(HELLO_TIMEOUT_MS, () => {
      if (this.#state.phase === 'greeting' && !this.#state.hello) this.#socket.terminate('no hello');
    });
  }

  /** Where the agent connects from; "" when there is no telling. */
  get remoteAddress(): string {
    return this.#socket.remoteAddress;
  }

  get phase(): SessionState['phase'] {
    return this.#state.phase;
  }

  /** Why it was ended against its will: a frame that breaks the rules, or a goodbye that refuses; undefined otherwise. */
  get refusal(): Refusal | undefined {
    return this.#socket.refusal;
  }

  /** Of the agent process on the other end; undefined unless live. */
  get instanceID(): string | undefined {
    return this.#state.phase === 'live' ? this.#state.instanceID : undefined;
  }

  /** True for a live agent that takes certificates over the link. */
  get acceptsCertificates(): boolean {
    return this.#state.phase === 'live' && this.#state.features.includes(CERTIFICATES);
  }

  /** What was agreed with the agent. */
  get pace(): HeartbeatConfig {
    return this.#pace;
  }

  /** From now on the link keeps this pace, if the agent can. */
  setPace(pace: HeartbeatConfig): void {
    if (this.#state.phase !== 'live' || !this.#state.features.includes(HEARTBEAT_CONFIG)) return;
    this.send({ kind: 'heartbeatConfig', ...pace });
    this.#pace = pace;
    this.#socket.setPace(pace);
  }

  /** The hub's clock was set: from now on it shows this, ms since the epoch. An agent that cannot take it hears it at its next welcome. */
  sendTime(serverTimeMs: number): void {
    if (this.#state.phase !== 'live' || !this.#state.features.includes(TIME)) return;
    this.send({ kind: 'time', serverTimeMs });
  }

  /** Milliseconds since the agent was last heard. */
  quietMs(): number {
    return this.#socket.quietMs();
  }

  /** Queues a message; after the end it goes nowhere. */
  send(message: FromHub): void {
    if (this.#state.phase === 'greeting' || this.#state.phase === 'live') this.#socket.send(message);
  }

  /** The hello was accepted. `features` are those that both ends know. */
  becomeLive(instanceID: string, features: readonly string[], sender: DesiredSender): void {
    if (this.#state.phase === 'greeting') {
      this.#state = { phase: 'live', instanceID, features, sender, isReporting: false, isRenewing: false };
    }
  }

  /** What its agent is to hold; undefined unless live. */
  get sender(): DesiredSender | undefined {
    return this.#state.phase === 'live' ? this.#state.sender : undefined;
  }

  /** Opens a stream on the host. Rejects with ApiError when the host refuses. */
  async openStream(
    request: StreamRequest,
    input: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const isPaced = this.#state.phase === 'live' && this.#state.features.includes(CHANNELS);
    if (request.type !== 'log' && !isPaced) {
      throw new ApiError('ServiceUnavailable', `the agent of node "${this.node}" is too old for this`);
    }
    this.#streams ??= new AgentStreams({
      send: (message) => this.send(message),
      sendDrained: (message) =>
        this.#state.phase === 'live' ? this.#socket.sendDrained(message) : Promise.resolve(),
      now: () => this.#clock.monotonic(),
      isPaced,
    });
    return this.#streams.open(request, input, signal);
  }

  /** True when the agent answers within a few seconds. */
  isAlive(): Promise<boolean> {
    return this.#state.phase === 'live' ? this.#socket.isAlive() : Promise.resolve(false);
  }

  /** Says goodbye and closes, softly while the socket still takes it, at the latest after `drainMs`. */
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
        if (!state.sender.applied(message.id)) throw new ProtocolError('applied what was not sent');
        return;
      case 'status':
        if (state.isReporting) throw new ProtocolError('a report before the last one was acknowledged');
        state.isReporting = true;
        void this.#report(message, state);
        return;
      case 'events':
        this.#events.events(this, message.items);
        return;
      case 'meters':
        this.#events.meters(this, message);
        return;
      case 'renew':
        void this.#renew(message.csr, state);
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

  /** Acknowledges what is committed. Without that the agent keeps it, and says it again in its next session. */
  async #report(report: StatusReport, state: LiveState): Promise<void> {
    try {
      await this.#events.status(this, report);
    } catch {
      this.#socket.terminate('report could not be stored');
      return;
    }
    state.isReporting = false;
    this.send({ kind: 'statusAck', id: report.id });
  }

  async #renew(csr: string, state: LiveState): Promise<void> {
    if (state.isRenewing) return;
    state.isRenewing = true;
    try {
      this.send({ kind: 'certified', certificate: await this.#events.renew(this, csr) });
    } catch (error) {
      if (error instanceof ApiError && error.code < 500) this.#violated(error.message);
      else this.#socket.terminate('no certificate could be made');
    } finally {
      state.isRenewing = false;
    }
  }

  /** An agent that breaks the protocol is told why and cut off; it may come back and do better. */
  #violated(message: string): void {
    this.goodbye({ reason: 'refused', message: message.slice(0, 1_000), retryMs: VIOLATION_RETRY_MS });
  }

  #closed({ reason, code, wasSilent }: { reason: string; code: number; wasSilent: boolean }): void {
    const wasDismissed = this.#state.phase === 'draining';
    this.#state = { phase: 'closed' };
    this.#helloTimer.cancel();
    this.#streams?.closeAll();
    this.#events.closed(this, reason, linkEnd(code, { wasSilent, wasDismissed }));
  }
}
