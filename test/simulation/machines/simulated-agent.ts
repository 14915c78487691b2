/** The agent of a simulated host, one life after another: the real one over a hollow engine, a file for its cache and a cable. */
import type { WebSocket } from 'ws';
import { createAgent } from '../../../agent/assembly/create-agent.js';
import { ConfigCache } from '../../../agent/desired/config-object-cache.js';
import { DesiredCache } from '../../../agent/desired/desired-cache.js';
import { JobRuns } from '../../../agent/desired/job-runs.js';
import { CoordinatorTime } from '../../../agent/handovers/coordinator-time.js';
import { CoordinatorAddresses, type StoredAddresses } from '../../../agent/link/coordinator-addresses.js';
import { withMonotonicTimes } from '../../../agent/runtime/monotonic-times-driver.js';
import { hollowHostDeps, hollowHostInfo } from '../../../agent/simulate/hollow-host.js';
import type { NodeStatus } from '../../../shared/kube/nodes/node-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import {
  type RunningComponents,
  startComponents,
} from '../../../shared/process/service/program-lifecycle.js';
import { monotonicClock } from '../../../shared/process/time/clock.js';
import type { Chronicle } from '../runs/chronicle.js';
import { type CrashPoint, ProgramLifetime, type SpeedFactor, type WallClock } from './program-lifetime.js';
import type { SeededRandom } from './seeded-random.js';
import type { HandoverWatcher, HostDisk } from './simulated-disk.js';
import type { EngineWatcher, HostEngine } from './simulated-engine.js';
import type { SimulatedSocket } from './simulated-network.js';
import type { HostShortage } from './simulated-shortage.js';
import type { Timeline } from './timeline.js';

/** Where an agent connects to. `address` is absent if there is one coordinator. */
export interface DialTarget {
  address?: string;
  /** Timeout for the first packet. Absent: only the one of the whole handshake. */
  connectTimeoutMs?: number | undefined;
}

/** The parts of a host that outlive its agent. */
export interface AgentDeps {
  nodeName: string;
  labels: Record<string, string>;
  timeline: Timeline;
  random: SeededRandom;
  speed: SpeedFactor;
  chronicle: Chronicle;
  wall: WallClock;
  engine: HostEngine;
  disk: HostDisk;
  /** It watches for this; absent = it does not. */
  shortage?: HostShortage;
  /** Static Pods may be laid down. */
  hasManifests: boolean;
  /** The boot that the host is in: its number, and when it began, ms. */
  boot: () => { number: number; atMs: number };
  /** It says 'not now' to who wants to replace a Pod. */
  isBusy: () => boolean;
  /** Adds the faults of the history to the host's own status. */
  amendStatus: (status: NodeStatus) => NodeStatus;
  /** The addresses of several coordinators in its settings. Empty: there is one coordinator. */
  coordinators: readonly string[];
  /** Opens a connection to a coordinator. */
  dial: (life: ProgramLifetime, target: DialTarget) => SimulatedSocket;
  engineWatcher: EngineWatcher;
  handoverWatcher: HandoverWatcher;
  /** Counts an event. */
  note: (event: string) => void;
}

export class HostAgent {
  readonly #parts: AgentDeps;
  #lives = 0;
  #life: ProgramLifetime | undefined;
  #running: RunningComponents | undefined;

  constructor(parts: AgentDeps) {
    this.#parts = parts;
  }

  get isUp(): boolean {
    return this.#life !== undefined && !this.#life.isOver;
  }

  start(): void {
    if (this.isUp) return;
    const { timeline, random: chance, speed: pace, wall, note } = this.#parts;
    this.#lives += 1;
    const stream = chance.stream(`agent-${this.#lives}`);
    const life: ProgramLifetime = new ProgramLifetime(timeline, wall, stream, pace, () => this.crash());
    this.#life = life;
    this.#say('the agent starts');
    note('agent starts');
    void this.#run(life, stream).catch((error: unknown) =>
      this.#say(`the agent could not start: ${String(error)}`),
    );
  }

  /** Stops the agent like systemd. Its containers keep running. */
  stop(): void {
    const life = this.#life;
    if (!life || !this.#running) {
      this.crash();
      return;
    }
    this.#say('the agent is told to stop');
    const stopped = this.#running.stop();
    this.#running = undefined;
    void stopped.then(() => life.end());
  }

  /** kill -9. */
  crash(): void {
    if (!this.isUp) return;
    this.#say('the agent is killed');
    this.#parts.note('agent killed');
    this.#life?.end();
    this.#running = undefined;
  }

  crashAt(crashAt: CrashPoint): void {
    this.#life?.crashAt(crashAt);
  }

  #say(what: string): void {
    this.#parts.chronicle.record(this.#parts.nodeName, what);
  }

  /** As agent/program/agent-main.ts does it. */
  async #run(life: ProgramLifetime, chance: SeededRandom): Promise<void> {
    const { nodeName, labels, chronicle, dial, timeline, disk, engine, shortage, isBusy } = this.#parts;
    const { amendStatus, hasManifests, handoverWatcher: turnWatcher, engineWatcher } = this.#parts;
    const clock = monotonicClock(life.clock);
    const log = chronicle.logger(`${nodeName} agent`, () => life.isOver);
    const cache = await DesiredCache.open(disk.cacheFor(life, turnWatcher), clock, log);
    const { number: boots, atMs: bootedAtMs } = this.#parts.boot();
    const bootClock = { bootMark: `boot ${boots}`, uptimeMs: () => timeline.now - bootedAtMs };
    const heardTime = await CoordinatorTime.open(bootClock, disk.coordinatorTimeFor(life), log);
    const jobRuns = await JobRuns.open(disk.jobRunsFor(life), clock, log);
    const addresses = await this.#addresses(life, log);
    const target = () =>
      addresses ? { address: addresses.current, connectTimeoutMs: addresses.connectTimeoutMs } : {};
    const agent = createAgent({
      ...hollowHostDeps(),
      settings: { nodeName, labels, taints: [] },
      target: {
        url: 'wss://coordinator.invalid/',
        ...(addresses && { addresses }),
        openWebSocket: () => dial(life, target()) as unknown as WebSocket,
      },
      driver: withMonotonicTimes(engine.driverFor(life, engineWatcher), clock, life.clock),
      cache,
      config: ConfigCache.inMemory(log),
      ...(shortage && { pressure: shortage.handlingFor(life) }),
      ...(hasManifests && { manifests: disk.manifestsFor(life) }),
      coordinatorTime: heardTime,
      jobRuns,
      updateLock: { ask: () => life.perform(() => (isBusy() ? { reason: 'busy' } : undefined)) },
      amendStatus,
      readHost: () => hollowHostInfo(nodeName, boots, `10.0.0.${Number(nodeName.replace(/\D/g, ''))}`),
      clock,
      wallClock: life.clock,
      random: { random: chance.fraction, uuid: chance.uuid },
      log,
    });
    const running = await startComponents(
      [
        { name: 'cache', stop: () => cache.flush() },
        { name: 'job runs', stop: () => jobRuns.flush() },
        ...agent.components,
      ],
      log,
    );
    if (!life.isOver) this.#running = running;
  }

  /** Undefined if there is one coordinator. */
  async #addresses(life: ProgramLifetime, log: Logger): Promise<CoordinatorAddresses | undefined> {
    const { coordinators: configured, disk } = this.#parts;
    if (configured.length === 0) return undefined;
    const stored = await disk.readAddresses(life);
    const save = (addresses: StoredAddresses) => disk.writeAddresses(life, addresses);
    return new CoordinatorAddresses({ configured, ...(stored && { stored }), save, log });
  }
}
