/**
 * The agent's link: connects and reconnects. Reports leave through its `outbox`; desired changes arrive at its
 * `LinkDelegate`.
 */
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import { LinkBytes, LinkMeter } from '../../shared/link/link-meter.js';
import type {
  Goodbye,
  GoodbyeReason,
  MetersReport,
  Welcome,
} from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type {
  LinkCertificateHandler,
  LinkDelegate,
  LinkServiceHandler,
  LinkServingHandler,
} from './link-delegate.js';
import { LinkSession } from './link-session.js';
import {
  FIRST_STATE,
  type LinkEvent,
  type LinkState,
  MAX_RECONNECT_MS,
  nextLinkState,
  STOPPED,
} from './link-state.js';
import type { LinkTarget } from './link-target.js';
import { type Outbox, wallTimeOf } from './outbox.js';
import { ProcessCostReports } from './process-cost-reports.js';

/** Timeout for the welcome. A hub may need some time to settle duplicate hosts. */
const WELCOME_TIMEOUT_MS = 45_000;
/** HTTP status of an upgrade that was refused for a missing proof. */
const UNAUTHORIZED = 401;
/**
 * Goodbyes that another address may not give: the coordinator stops, or it belongs to another fleet. The other goodbyes
 * are about this host, and every address leads to the same leader.
 */
const ADDRESS_REASONS: readonly GoodbyeReason[] = ['draining', 'refused'];
/** A link that was live for this long counts as a success: the next reconnect starts with the shortest delay. */
const SETTLED_MS = 10_000;

/** Identity of this agent process. */
interface AgentIdentity {
  node: string;
  bootID: string;
  /** Random, created at process start. */
  instanceID: string;
  agentVersion: string;
}

interface LinkOptions {
  target: LinkTarget;
  identity: AgentIdentity;
  delegate: LinkDelegate;
  outbox: Outbox;
  /** Absent if the target's certificate is not renewed. */
  certificates?: LinkCertificateHandler;
  /** Absent if this agent serves no cluster DNS. */
  services?: LinkServiceHandler;
  /** Absent if this agent does not serve the kubelet's port. */
  serving?: LinkServingHandler;
  /** A monotonic clock (`monotonicClock`), the one by which reports are timed. */
  clock: Clock;
  log: Logger;
  /** Returns a number in [0, 1), which spreads reconnects. */
  random: () => number;
  /** Returns the resource usage of this process; absent for simulated hosts. */
  cost?: () => ProcessCost;
  /** Returns the host's load for heartbeats; absent: they carry none. */
  load?: () => HeartbeatReading;
  /** Returns the host's wall clock, ms since the epoch, right or wrong; absent: not reported. */
  readWallClock?: () => number;
}

type ProcessCost = Omit<MetersReport, 'kind' | 'uptimeMs' | 'roundTripMs'>;

export class Link {
  readonly outbox: Outbox;
  /** Byte counts of all connections. */
  readonly bytes = new LinkBytes();
  readonly #options: LinkOptions;
  readonly #usageReports: ProcessCostReports | undefined;
  #state: LinkState = FIRST_STATE;
  #session: LinkSession | undefined;
  #timer: Timer | undefined;
  #nodeUid: string | undefined;
  #breakReason = '';
  /** Why the addresses of this round failed. */
  #failures: string[] = [];

  constructor(options: LinkOptions) {
    this.#options = options;
    const { clock, cost } = options;
    this.#usageReports = cost && new ProcessCostReports(clock, () => ({ ...cost(), ...this.#roundTrip() }));
    this.outbox = options.outbox;
  }

  get phase(): LinkState['phase'] {
    return this.#state.phase;
  }

  /** Connects at once, and reconnects until `stop` or a final goodbye. */
  start(): void {
    this.#handle({ kind: 'due' });
  }

  /** Closes the connection and never opens another. */
  stop(): void {
    this.#handle({ kind: 'stopped' });
  }

  /** Returns the time since the last bytes from the hub, ms; Infinity without a connection. */
  silentMs(): number {
    return this.#session?.silentMs() ?? Number.POSITIVE_INFINITY;
  }

  /** Returns the time from a ping to its pong, ms; undefined before the first pong of this connection. */
  get roundTripMs(): number | undefined {
    return this.#session?.roundTripMs;
  }

  #roundTrip(): { roundTripMs?: number } {
    const { roundTripMs } = this;
    return roundTripMs === undefined ? {} : { roundTripMs };
  }

  get coordinator(): string | undefined {
    return this.#options.target.addresses?.current;
  }

  /** Sends a ping at once, so that a reachable hub responds soon. */
  ping(): void {
    this.#session?.ping();
  }

  /** The only place that changes the state. It also runs the actions of leaving and entering states. */
  #handle(event: LinkEvent): void {
    const previous = this.#state;
    const next = nextLinkState(previous, event);
    if (next === previous) return;
    this.#state = next;
    this.#timer?.cancel();
    const { delegate, log } = this.#options;
    log.debug({ from: previous.phase, to: next.phase }, 'link changed state');
    if (previous.phase === 'live' && next.phase !== 'live') {
      this.outbox.endSession();
      this.#usageReports?.stop();
      this.#options.certificates?.onLost();
      this.#options.services?.onLost();
      this.#options.serving?.onLost();
    }
    this.#enter(next);
    // The agent knows of a stop that it requested itself.
    if (event.kind === 'stopped') return;
    if (previous.phase === 'live' && next.phase === 'waiting') delegate.onLost(this.#breakReason);
    if (next.phase === 'ended') delegate.onEnded(next.reason);
  }

  #enter(state: LinkState): void {
    switch (state.phase) {
      case 'waiting':
        this.#detach();
        this.#timer = this.#options.clock.after(state.delayMs, () => void this.#connectInSlot());
        return;
      case 'connecting':
        this.#session = this.#connect();
        return;
      case 'greeting':
        this.#sayHello();
        this.#timer = this.#options.clock.after(WELCOME_TIMEOUT_MS, () => this.#break('never welcomed'));
        return;
      case 'live':
        if (state.failures > 0) this.#after(SETTLED_MS, { kind: 'settled' });
        return;
      case 'ended':
        this.#detach(state.reason === STOPPED);
        return;
    }
  }

  async #connectInSlot(): Promise<void> {
    const slot = this.#options.target.waitForConnectSlot?.();
    if (slot) await slot;
    this.#handle({ kind: 'due' });
  }

  #after(delayMs: number, event: LinkEvent): void {
    this.#timer = this.#options.clock.after(delayMs, () => this.#handle(event));
  }

  #connect(): LinkSession {
    const { target, delegate, certificates, services, serving, load, clock, log } = this.#options;
    const { outbox } = this;
    const deps = {
      target,
      delegate,
      outbox,
      certificates,
      services,
      serving,
      costs: this.#usageReports,
      load,
      clock,
      log,
    };
    return new LinkSession(deps, new LinkMeter(this.bytes), {
      onOpen: () => this.#handle({ kind: 'opened' }),
      onWelcome: (welcome) => this.#welcomed(welcome),
      onOtherFleet: () => this.#refuse('another clusterUID'),
      onGoodbye: (goodbye) => this.#dismissed(goodbye),
      onClose: (reason, code) => this.#closed(reason, code),
    });
  }

  /** `isStop`: the hub must not count it as a crash. */
  #detach(isStop = false): void {
    const session = this.#session;
    this.#session = undefined;
    session?.end(isStop);
  }

  #break(reason: string): void {
    this.#breakReason = reason;
    const { phase } = this.#state;
    this.#options.log.warn({ reason, phase, ...this.#coordinatorField() }, 'link broke');
    const hasOtherAddress = this.#failed(reason, phase !== 'live');
    this.#handle({ kind: 'broken', chance: this.#options.random(), hasOtherAddress });
  }

  /** Returns true if the current round has another address. Otherwise the delegate receives all reasons of the round. */
  #failed(reason: string, mayHelp: boolean): boolean {
    const { addresses } = this.#options.target;
    this.#failures.push(reason);
    if (mayHelp && addresses?.failed()) return true;
    if (!mayHelp) addresses?.startRound();
    const reasons = this.#failures;
    this.#failures = [];
    this.#options.delegate.onFailed(reasons);
    return false;
  }

  #coordinatorField(): { coordinator?: string } {
    const { coordinator } = this;
    return coordinator === undefined ? {} : { coordinator };
  }

  #closed(reason: string, code: number | undefined): void {
    this.#break(reason);
    if (code === UNAUTHORIZED) this.#options.certificates?.onRefused(() => this.#handle({ kind: 'due' }));
  }

  #sayHello(): void {
    const { identity, clock } = this.#options;
    this.#session?.sendHello({
      ...identity,
      ...(this.#nodeUid ? { nodeUid: this.#nodeUid } : {}),
      hostTimeMs: clock.now(),
      ...wallTimeOf(this.#options.readWallClock),
    });
  }

  #welcomed(welcome: Welcome): void {
    this.#nodeUid = welcome.node.metadata.uid;
    const { target } = this.#options;
    this.#failures = [];
    target.onWelcome?.(welcome.bearerToken);
    target.addresses?.connected();
    if (welcome.coordinators) target.addresses?.learn(welcome.coordinators);
    this.#handle({ kind: 'welcomed', reconnectSpreadMs: welcome.reconnectSpreadMs });
    this.#options.delegate.onLive(welcome, this);
  }

  /** Rejects the hub and reconnects only rarely. */
  #refuse(message: string): void {
    this.#breakReason = message;
    const chance = this.#options.random();
    const hasOtherAddress = this.#failed(message, true);
    const retryMs = MAX_RECONNECT_MS;
    this.#handle({ kind: 'dismissed', reason: 'refused', message, retryMs, chance, hasOtherAddress });
  }

  #dismissed(goodbye: Goodbye): void {
    const { reason, message, retryMs } = goodbye;
    this.#options.log.warn(
      { reason, message, retryMs, ...this.#coordinatorField() },
      'hub ended the session',
    );
    this.#breakReason = `${reason}: ${message}`;
    const mayHelp = this.#state.phase !== 'live' && ADDRESS_REASONS.includes(reason);
    const hasOtherAddress = this.#failed(this.#breakReason, mayHelp);
    const chance = this.#options.random();
    const event: LinkEvent = { kind: 'dismissed', reason, message, retryMs, chance, hasOtherAddress };
    if (reason === 'nodeDeleted') void this.#dropEverything(goodbye).then(() => this.#handle(event));
    else this.#handle(event);
  }

  async #dropEverything(goodbye: Goodbye): Promise<void> {
    const session = this.#session;
    this.#detach();
    await session?.dropAllPods(goodbye);
  }
}
