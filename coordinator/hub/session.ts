/**
 * One agent's link: its socket, its state and its limits. What a message means is decided by those it is handed to;
 * what may be said when is decided here.
 */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';
import { type LinkPace, STANDARD_PACE } from '../../shared/kube/link-pace.js';
import { ApiError } from '../../shared/kube/status.js';
import { decodeFromAgent, encodeMessage } from '../../shared/link/codec.js';
import type { LinkMeter } from '../../shared/link/link-meter.js';
import type {
  FromAgent,
  FromHub,
  Goodbye,
  Hello,
  MetersReport,
  ReportedEvent,
  StatusReport,
  StreamRequest,
} from '../../shared/link/messages.js';
import { ProtocolError } from '../../shared/link/shape.js';
import { SilenceWatch } from '../../shared/link/silence-watch.js';
import { CERTIFICATES, CHANNELS, LINK_PACE } from '../../shared/link/version.js';
import type { Clock, Timer } from '../../shared/process/clock.js';
import { type LinkEnd, linkEnd } from '../decisions/link-end.js';
import type { DesiredSender } from './desired-sender.js';
import type { Inbox } from './inbox.js';
import { IncomingStreams } from './incoming-streams.js';

/** `draining`: goodbye was said, the socket is given a moment to deliver it. */
export type SessionState =
  | { phase: 'greeting'; hello?: Hello }
  | {
      phase: 'live';
      instanceID: string;
      features: readonly string[];
      sender: DesiredSender;
      isReporting: boolean;
      isRenewing: boolean;
    }
  | { phase: 'draining'; deadline: Timer }
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
  meter(session: Session, report: MetersReport): void;
  /** What a beat carried. */
  reading(session: Session, payload: Uint8Array): void;
  /** Resolves with the new certificate, PEM. Rejects with ApiError. */
  renew(session: Session, csr: string): Promise<string>;
  /** The socket is gone. Called once, whatever happened. */
  closed(session: Session, reason: string, end: LinkEnd): void;
}

/** From the end of the upgrade to the hello. */
const HELLO_TIMEOUT_MS = 15_000;
/** How long a goodbye may take to be delivered. */
const DRAIN_MS = 2_000;
/** How long an agent may take to show that it is alive when another claims its name. */
const PROBE_MS = 5_000;
/** An agent that broke the protocol will do it again; not too often. */
const VIOLATION_RETRY_MS = 10_000;
/** WebSocket close code (RFC 6455, 7.4.1). */
const CLOSE_NORMAL = 1000;
/** Why a session ended that was heard no more. */
const SILENCE = 'silence';

/** Which node an agent proved to be, and the hash of what it proved it by. */
export interface ProvenNode {
  node: string;
  hash: string;
  /** By which it is known over HTTPS while the link stands, where a proxy hides its certificate. */
  bearer?: string;
}

export class Session {
  readonly node: string;
  readonly credentialHash: string;
  readonly bearer: string | undefined;
  /** Where the agent connects from; "" when there is no telling. */
  readonly remoteAddress: string;
  readonly #socket: WebSocket;
  readonly #events: SessionEvents;
  readonly #clock: Clock;
  readonly #silence: SilenceWatch;
  readonly #meter: LinkMeter;
  readonly #helloTimer: Timer;
  #brokenTimer: Timer | undefined;
  #streams: IncomingStreams | undefined;
  #state: SessionState = { phase: 'greeting' };
  #endReason: string | undefined;
  #pace = STANDARD_PACE;
  #refusal: { code: number; reason: string } | undefined;

  /** `transport` is the socket under the WebSocket; `meter` counts what it carries. */
  constructor(
    { node, hash, bearer }: ProvenNode,
    socket: WebSocket,
    transport: Duplex,
    events: SessionEvents,
    inbox: Inbox,
    clock: Clock,
    meter: LinkMeter,
  ) {
    this.node = node;
    this.credentialHash = hash;
    this.bearer = bearer;
    this.remoteAddress = transport instanceof Socket ? (transport.remoteAddress ?? '') : '';
    this.#socket = socket;
    this.#events = events;
    this.#clock = clock;
    this.#meter = meter;
    if (transport instanceof Socket) {
      const isResumed = transport instanceof TLSSocket && transport.isSessionReused();
      meter.connected(isResumed, { up: transport.bytesRead, down: transport.bytesWritten });
    }
    const bytesRead = () => (transport instanceof Socket ? transport.bytesRead : 0);
    this.#silence = new SilenceWatch(clock, bytesRead, () => this.#end(SILENCE));
    socket.on('message', (data, isBinary) => {
      this.#silence.heard();
      inbox.add(() => this.#received(data, isBinary));
    });
    socket.on('ping', (payload?: Buffer) => {
      this.#silence.heard();
      meter.beat('up', payload?.length);
      if (payload?.length) this.#events.reading(this, payload);
    });
    socket.on('pong', () => this.#silence.heard());
    socket.on('error', (error: Error & { code?: string }) => {
      this.#endReason ??= error.message;
      if (!error.code?.startsWith('WS_ERR_')) return;
      this.#refusal ??= { code: 400, reason: error.message };
      // Its close frame is on the way; what comes after a broken one is no answer to it.
      this.#brokenTimer = clock.after(DRAIN_MS, () => socket.terminate());
    });
    socket.on('close', (code) => this.#closed(code));
    this.#helloTimer = clock.after(HELLO_TIMEOUT_MS, () => {
      if (this.#state.phase === 'greeting' && !this.#state.hello) this.#end('no hello');
    });
  }

  get phase(): SessionState['phase'] {
    return this.#state.phase;
  }

  /** Why it was ended against its will: a frame that breaks the rules, or a goodbye that refuses; undefined otherwise. */
  get refusal(): { code: number; reason: string } | undefined {
    return this.#refusal;
  }

  /** Of the agent process on the other end; undefined unless live. */
  get instanceID(): string | undefined {
    return this.#state.phase === 'live' ? this.#state.instanceID : undefined;
  }

  /** True for a live agent that takes certificates over the link. */
  get knowsCertificates(): boolean {
    return this.#state.phase === 'live' && this.#state.features.includes(CERTIFICATES);
  }

  /** What was agreed with the agent. */
  get pace(): LinkPace {
    return this.#pace;
  }

  /** From now on the link keeps this pace, if the agent can. */
  keepPace(pace: LinkPace): void {
    if (this.#state.phase !== 'live' || !this.#state.features.includes(LINK_PACE)) return;
    this.send({ kind: 'pace', ...pace });
    this.#pace = pace;
    this.#silence.allow(pace.silenceMs);
  }

  /** Milliseconds since the agent was last heard. */
  quietMs(): number {
    return this.#silence.quietMs();
  }

  /** Queues a message; after the end it goes nowhere. */
  send(message: FromHub): void {
    if (this.#state.phase === 'greeting' || this.#state.phase === 'live') {
      this.#socket.send(this.#encoded(message));
    }
  }

  /** Resolves when the operating system took the message, or never will. */
  #sendDrained(message: FromHub): Promise<void> {
    if (this.#state.phase !== 'live') return Promise.resolve();
    return new Promise((resolve) => this.#socket.send(this.#encoded(message), () => resolve()));
  }

  #encoded(message: FromHub): Buffer {
    const frame = encodeMessage(message, { compress: this.#pace.compresses });
    this.#meter.message('down', message, frame.length);
    return frame;
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
    this.#streams ??= new IncomingStreams({
      send: (message) => this.send(message),
      sendDrained: (message) => this.#sendDrained(message),
      now: () => this.#clock.monotonic(),
      isPaced,
    });
    return this.#streams.open(request, input, signal);
  }

  /** True when the agent answers within a few seconds. */
  isAlive(): Promise<boolean> {
    if (this.#state.phase !== 'live' || this.#socket.readyState !== this.#socket.OPEN) {
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      const timer = this.#clock.after(PROBE_MS, () => resolve(false));
      const answer = (isAlive: boolean) => {
        timer.cancel();
        resolve(isAlive);
      };
      this.#socket.once('pong', () => {
        this.#meter.beat('down');
        answer(true);
      });
      this.#socket.once('close', () => answer(false));
      this.#socket.ping();
    });
  }

  /** Says goodbye and closes, softly while the socket still takes it, at the latest after `drainMs`. */
  goodbye(goodbye: Omit<Goodbye, 'kind'>, drainMs = DRAIN_MS): void {
    if (this.#state.phase !== 'greeting' && this.#state.phase !== 'live') return;
    this.send({ kind: 'goodbye', ...goodbye });
    this.#endReason ??= `goodbye: ${goodbye.reason}`;
    if (goodbye.reason === 'refused') this.#refusal ??= { code: 403, reason: goodbye.message };
    const deadline = this.#clock.after(drainMs, () => this.#socket.terminate());
    this.#state = { phase: 'draining', deadline };
    this.#socket.close(CLOSE_NORMAL);
  }

  #end(reason: string): void {
    this.#endReason ??= reason;
    this.#socket.terminate();
  }

  #received(data: unknown, isBinary: boolean): void {
    try {
      if (!isBinary || !Buffer.isBuffer(data)) throw new ProtocolError('frame is not binary');
      const message = decodeFromAgent(data);
      this.#meter.message('up', message, data.length);
      this.#dispatch(message);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#violated(error.message);
    }
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
        this.#events.meter(this, message);
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
      this.#end('report could not be stored');
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
      else this.#end('no certificate could be made');
    } finally {
      state.isRenewing = false;
    }
  }

  /** An agent that breaks the protocol is told why and cut off; it may come back and do better. */
  #violated(message: string): void {
    this.goodbye({ reason: 'refused', message: message.slice(0, 1_000), retryMs: VIOLATION_RETRY_MS });
  }

  #closed(code: number): void {
    if (this.#state.phase === 'closed') return;
    const wasDismissed = this.#state.phase === 'draining';
    if (this.#state.phase === 'draining') this.#state.deadline.cancel();
    this.#state = { phase: 'closed' };
    this.#silence.stop();
    this.#helloTimer.cancel();
    this.#brokenTimer?.cancel();
    this.#streams?.closeAll();
    const end = linkEnd(code, { wasSilent: this.#endReason === SILENCE, wasDismissed });
    this.#events.closed(this, this.#endReason ?? `closed with ${code}`, end);
  }
}
