/**
 * The agent's link: connects, and comes back after a break. Reports go out through its `outbox`; what the coordinator
 * wants comes in through the `AgentSide` it was given.
 */
import type { HeartbeatReading } from '../../shared/link/heartbeat-reading.js';
import { LinkBytes, LinkMeter } from '../../shared/link/link-meter.js';
import type { Goodbye, MetersReport, Welcome } from '../../shared/link/messages/link-messages.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { EventJournal } from './event-journal.js';
import type { LinkCertificateHandler } from './link-certificate-handler.js';
import type { LinkDelegate } from './link-delegate.js';
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
import { Outbox } from './outbox.js';
import { ProcessCostReports } from './process-cost-reports.js';

/** A hub that settles who is who may take some time; a hub that never welcomes is left. */
const GREETING_TIMEOUT_MS = 45_000;
/** Status of an upgrade that was refused for want of a proof. */
const UNAUTHORIZED = 401;
/** A link that lived so long counts as a success: the next break starts with the shortest wait. */
const SETTLED_MS = 10_000;

/** Who this agent process is. */
interface AgentIdentity {
  node: string;
  bootID: string;
  /** Random, made at process start. */
  instanceID: string;
  agentVersion: string;
}

interface LinkOptions {
  target: LinkTarget;
  identity: AgentIdentity;
  delegate: LinkDelegate;
  /** Absent where nobody renews what the target shows. */
  certificates?: LinkCertificateHandler;
  /** A steady clock (`steadyClock`), the one that the reports' times are read off. */
  clock: Clock;
  log: Logger;
  /** In [0, 1): spreads reconnects. */
  random: () => number;
  /** What this process costs its host; absent for hosts that pretend. */
  cost?: () => ProcessCost;
  /** How busy the host is, for its heartbeats; absent: they tell nothing. */
  load?: () => HeartbeatReading;
  /** Keeps what happens while nobody can be told; absent for hosts that pretend. */
  journal?: EventJournal;
  /** The host's wall clock, ms since the epoch, right or wrong; absent: it is not told. */
  readWallClock?: () => number;
}

/** As the hub is told of it. */
type ProcessCost = Omit<MetersReport, 'kind' | 'uptimeMs' | 'roundTripMs'>;

export class Link {
  readonly outbox: Outbox;
  /** What all connections have carried. */
  readonly bytes = new LinkBytes();
  readonly #options: LinkOptions;
  readonly #costs: ProcessCostReports | undefined;
  #state: LinkState = FIRST_STATE;
  #conversation: LinkSession | undefined;
  #timer: Timer | undefined;
  #nodeUid: string | undefined;
  #breakReason = '';

  constructor(options: LinkOptions) {
    this.#options = options;
    const { clock, cost } = options;
    this.#costs = cost && new ProcessCostReports(clock, () => ({ ...cost(), ...this.#roundTrip() }));
    this.outbox = new Outbox(
      options.clock,
      (uids) => options.delegate.onHandoversAcknowledged(uids),
      () => this.#wallTime(),
      options.journal,
    );
  }

  get phase(): LinkState['phase'] {
    return this.#state.phase;
  }

  /** Connects at once, and keeps connecting until `stop` or a goodbye for good. */
  start(): void {
    this.#happened({ kind: 'due' });
  }

  /** Closes the connection and never opens another. */
  stop(): void {
    this.#happened({ kind: 'stopped' });
  }

  /** How long the hub was not heard, ms; for ever while there is no connection. */
  silentMs(): number {
    return this.#conversation?.silentMs() ?? Number.POSITIVE_INFINITY;
  }

  /** From a heartbeat to its answer, ms; undefined before the first one of this connection. */
  get roundTripMs(): number | undefined {
    return this.#conversation?.roundTripMs;
  }

  #wallTime(): { wallTimeMs?: number } {
    const { readWallClock: wallNow } = this.#options;
    return wallNow ? { wallTimeMs: Math.max(Math.round(wallNow()), 0) } : {};
  }

  #roundTrip(): { roundTripMs?: number } {
    const { roundTripMs } = this;
    return roundTripMs === undefined ? {} : { roundTripMs };
  }

  /** Has the hub answer soon, if it is there. */
  ping(): void {
    this.#conversation?.ping();
  }

  /** The only place where the state changes; what belongs to leaving one state and entering the next is done here. */
  #happened(event: LinkEvent): void {
    const previous = this.#state;
    const next = nextLinkState(previous, event);
    if (next === previous) return;
    this.#state = next;
    this.#timer?.cancel();
    const { delegate: agent, log } = this.#options;
    log.debug({ from: previous.phase, to: next.phase }, 'link changed state');
    if (previous.phase === 'live' && next.phase !== 'live') {
      this.outbox.endSession();
      this.#costs?.stop();
      this.#options.certificates?.onLost();
    }
    this.#enter(next);
    // A stop of our own is no news to the agent.
    if (event.kind === 'stopped') return;
    if (previous.phase === 'live' && next.phase === 'waiting') agent.onLost(this.#breakReason);
    if (next.phase === 'ended') agent.onEnded(next.reason);
  }

  #enter(state: LinkState): void {
    switch (state.phase) {
      case 'waiting':
        this.#detach();
        this.#timer = this.#options.clock.after(state.delayMs, () => void this.#connectInTurn());
        return;
      case 'connecting':
        this.#conversation = this.#connect();
        return;
      case 'greeting':
        this.#sayHello();
        this.#timer = this.#options.clock.after(GREETING_TIMEOUT_MS, () => this.#break('never welcomed'));
        return;
      case 'live':
        if (state.failures > 0) this.#after(SETTLED_MS, { kind: 'settled' });
        return;
      case 'ended':
        this.#detach(state.reason === STOPPED);
        return;
    }
  }

  async #connectInTurn(): Promise<void> {
    const turn = this.#options.target.waitForConnectSlot?.();
    if (turn) await turn;
    this.#happened({ kind: 'due' });
  }

  #after(delayMs: number, event: LinkEvent): void {
    this.#timer = this.#options.clock.after(delayMs, () => this.#happened(event));
  }

  #connect(): LinkSession {
    const { target, delegate: agent, certificates, load, clock, log } = this.#options;
    const { outbox } = this;
    const parts = { target, delegate: agent, outbox, certificates, costs: this.#costs, load, clock, log };
    return new LinkSession(parts, new LinkMeter(this.bytes), {
      onOpen: () => this.#happened({ kind: 'opened' }),
      onWelcome: (welcome) => this.#welcomed(welcome),
      onOtherFleet: () => this.#refuse('another clusterUID'),
      onGoodbye: (goodbye) => this.#dismissed(goodbye),
      onClose: (reason, code) => this.#closed(reason, code),
    });
  }

  /** `isStop`: the hub is to know that it was no crash. */
  #detach(isStop = false): void {
    const conversation = this.#conversation;
    this.#conversation = undefined;
    conversation?.end(isStop);
  }

  #break(reason: string): void {
    this.#breakReason = reason;
    this.#options.log.warn({ reason, phase: this.#state.phase }, 'link broke');
    this.#options.delegate.onFailed(reason);
    this.#happened({ kind: 'broken', chance: this.#options.random() });
  }

  #closed(reason: string, code: number | undefined): void {
    this.#break(reason);
    if (code === UNAUTHORIZED) this.#options.certificates?.onRefused(() => this.#happened({ kind: 'due' }));
  }

  #sayHello(): void {
    const { identity, clock } = this.#options;
    this.#conversation?.sendHello({
      ...identity,
      ...(this.#nodeUid ? { nodeUid: this.#nodeUid } : {}),
      hostTimeMs: clock.now(),
      ...this.#wallTime(),
    });
  }

  #welcomed(welcome: Welcome): void {
    this.#nodeUid = welcome.node.metadata.uid;
    this.#options.target.onWelcome?.(welcome.bearerToken);
    this.#happened({ kind: 'welcomed', reconnectSpreadMs: welcome.reconnectSpreadMs });
    this.#options.delegate.onLive(welcome);
  }

  /** This side will not go on with the hub it reached: it comes back seldom. */
  #refuse(message: string): void {
    this.#breakReason = message;
    const chance = this.#options.random();
    this.#happened({ kind: 'dismissed', reason: 'refused', message, retryMs: MAX_RECONNECT_MS, chance });
  }

  #dismissed(goodbye: Goodbye): void {
    const { reason, message, retryMs } = goodbye;
    this.#options.log.warn({ reason, message, retryMs }, 'hub said goodbye');
    this.#breakReason = `${reason}: ${message}`;
    this.#options.delegate.onFailed(this.#breakReason);
    const chance = this.#options.random();
    const event: LinkEvent = { kind: 'dismissed', reason, message, retryMs, chance };
    if (reason === 'nodeDeleted') void this.#dropEverything(goodbye).then(() => this.#happened(event));
    else this.#happened(event);
  }

  async #dropEverything(goodbye: Goodbye): Promise<void> {
    const conversation = this.#conversation;
    this.#detach();
    await conversation?.dropAllPods(goodbye);
  }
}
