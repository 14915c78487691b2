/** A simulated host: a machine with an engine, a disk and a cable, which outlive its agent. */
import type { NodeStatus } from '../../../shared/kube/nodes/node-types.js';
import type { Domain, Pressure, ScarceResource } from '../histories/history.js';
import type { Chronicle } from '../runs/chronicle.js';
import { type CrashPoint, ProgramLifetime, type SpeedFactor, type WallClock } from './program-lifetime.js';
import type { SeededRandom } from './seeded-random.js';
import { type DialTarget, HostAgent } from './simulated-agent.js';
import { type HandoverWatcher, HostDisk } from './simulated-disk.js';
import { type HostContainer, HostEngine } from './simulated-engine.js';
import type { Cable, SimulatedSocket } from './simulated-network.js';
import { HostShortage } from './simulated-shortage.js';
import type { Timeline } from './timeline.js';

export interface HostDeps {
  name: string;
  labels: Record<string, string>;
  domain: Domain;
  clusterUID: string;
  timeline: Timeline;
  random: SeededRandom;
  speed: SpeedFactor;
  chronicle: Chronicle;
  cable: Cable;
  /** It may run short of something: its agent watches for that. */
  mayStarve: boolean;
  /** Static Pods may be laid down. */
  hasManifests: boolean;
  /** The addresses of several coordinators in its agent's settings. Empty: there is one coordinator. */
  coordinators: readonly string[];
  /** Opens a connection to a coordinator. */
  dial: (host: SimulatedHost, life: ProgramLifetime, target: DialTarget) => SimulatedSocket;
  /** A container of this Pod runs now. */
  onStarted: (host: SimulatedHost, podUid: string) => void;
  /** The agent has just sent the stop signal to a running container of this Pod. */
  onStopped: (host: SimulatedHost, podUid: string) => void;
  handoverWatcher: HandoverWatcher;
  /** Counts an event. */
  note: (event: string) => void;
}

export class SimulatedHost {
  readonly cable: Cable;
  readonly wall: WallClock = { offsetMs: 0 };
  readonly #parts: HostDeps;
  readonly #engine: HostEngine;
  readonly #disk = new HostDisk();
  readonly #shortage: HostShortage;
  #boots = 1;
  #bootedAtMs = 0;
  #busySinceMs: number | undefined;
  #busyUntilMs: number | undefined;
  #engineUpSinceMs: number | undefined = 0;
  readonly #agent: HostAgent;
  isPowered = true;
  readonly #pressures = new Set<Pressure>();

  constructor(parts: HostDeps) {
    const { timeline } = parts;
    this.#parts = parts;
    this.cable = parts.cable;
    this.#shortage = new HostShortage(timeline);
    // The engine is a separate program, which keeps running when the agent ends.
    const clock = new ProgramLifetime(
      timeline,
      this.wall,
      parts.random.stream('engine'),
      parts.speed,
      () => undefined,
    ).clock;
    this.#engine = new HostEngine(clock, { clusterUID: parts.clusterUID, nodeName: parts.name });
    this.#agent = this.#makeAgent();
  }

  get name(): string {
    return this.#parts.name;
  }

  get domain(): Domain {
    return this.#parts.domain;
  }

  /** How often it came up. */
  get boots(): number {
    return this.#boots;
  }

  /** Since when it says 'not now' to who wants to replace a Pod, ms; undefined = it does not. */
  get busySinceMs(): number | undefined {
    return this.#busySinceMs;
  }

  /** When it last stopped saying so, ms; undefined = never. */
  get busyUntilMs(): number | undefined {
    return this.#busyUntilMs;
  }

  /** Since when its engine answers, ms; undefined = it does not. */
  get engineUpSinceMs(): number | undefined {
    return this.#engineUpSinceMs;
  }

  /** The running containers. */
  running(): HostContainer[] {
    return this.#engine.running();
  }

  /** All containers, running or not. */
  containers(): HostContainer[] {
    return this.#engine.containers();
  }

  startAgent(): void {
    if (this.isPowered) this.#agent.start();
  }

  /** Stops the agent like systemd. Its containers keep running. */
  stopAgent(): void {
    this.#agent.stop();
  }

  /** kill -9. */
  crashAgent(): void {
    this.#agent.crash();
  }

  crashAgentAt(crashAt: CrashPoint): void {
    this.#agent.crashAt(crashAt);
  }

  /** Ends all programs at once, without a signal. */
  cutPower(): void {
    this.isPowered = false;
    this.#say('power cut');
    this.#parts.note('power cut');
    this.crashAgent();
    this.#engine.killAll();
    this.#engine.shutDown('the host is off');
    this.#engineUpSinceMs = undefined;
  }

  boot(): void {
    if (this.isPowered) return;
    this.#say('boots');
    this.#parts.note('host boots');
    this.#boots += 1;
    this.#bootedAtMs = this.#parts.timeline.now;
    this.isPowered = true;
    this.startEngine();
    this.startAgent();
  }

  /** The file under the desired cache is rubbish from now on: what a power cut may leave of a bad disk. */
  damageCache(): void {
    this.#disk.damageCache();
  }

  stopEngine(killsContainers: boolean): void {
    if (!this.isPowered) return;
    this.#say(`the engine stops${killsContainers ? ', its containers with it' : '; its containers go on'}`);
    if (killsContainers) this.#engine.killAll();
    this.#engine.shutDown('engine restarts');
    this.#engineUpSinceMs = undefined;
  }

  startEngine(): void {
    if (!this.isPowered) return;
    this.#engine.startUp();
    this.#engineUpSinceMs ??= this.#parts.timeline.now;
  }

  /** The agent can write nothing, or can again. */
  fillDisk(isFull: boolean): void {
    this.#disk.isFull = isFull;
    this.#say(isFull ? 'the disk is full' : 'the disk has room');
  }

  /** When it was last short of something, ms; undefined = never. */
  get resourcesShortAtMs(): number | undefined {
    return this.#shortage.lastAtMs;
  }

  /** There is next to nothing left of it, or enough again. */
  starve(of: ScarceResource, isStarving: boolean): void {
    this.#shortage.set(of, isStarving);
    this.#say(isStarving ? `is short of ${of}` : `has ${of} again`);
  }

  /** Sets or releases the host's update lock. */
  makeBusy(isBusy: boolean): void {
    const { now } = this.#parts.timeline;
    if (!isBusy && this.#busySinceMs !== undefined) this.#busyUntilMs = now;
    this.#busySinceMs = isBusy ? (this.#busySinceMs ?? now) : undefined;
    this.#say(isBusy ? 'is busy' : 'is not busy');
  }

  /** The host reports this condition from its next poll on. */
  press(condition: Pressure, isPressed: boolean): void {
    if (isPressed) this.#pressures.add(condition);
    else this.#pressures.delete(condition);
    this.#say(`${condition} is ${isPressed}`);
  }

  /** The engine takes calls and answers none. */
  hangEngine(): void {
    this.#engine.hang();
    this.#engineUpSinceMs = undefined;
    this.#say('the engine hangs');
  }

  resumeEngine(): void {
    this.#say('the engine answers');
    this.#engine.resume();
    this.#engineUpSinceMs = this.#parts.timeline.now;
  }

  /** Ends the faults of the disk and the engine, the pressure, and the update lock. */
  recover(): void {
    if (this.#busySinceMs !== undefined) this.makeBusy(false);
    this.#disk.isFull = false;
    this.#pressures.clear();
    this.#shortage.end();
    this.#engine.resume();
  }

  /** By hand, behind the agent's back: the n-th container, running or not. */
  removeContainer(index: number): void {
    const podName = this.#engine.removeContainer(index);
    if (podName !== undefined) this.#say(`somebody removed a container of ${podName}`);
  }

  /** Lays a static Pod's manifest down, or takes it away. */
  writeManifest(name: string, image: string | null): void {
    this.#say(`manifest ${name}: ${image ?? 'removed'}`);
    this.#disk.writeManifest(name, image);
  }

  /** The static Pods that lie there, as name and image. */
  staticPods(): { name: string; image: string }[] {
    return this.#disk.staticPods().map(({ name, image }) => ({ name: `${name}-${this.name}`, image }));
  }

  /** The n-th running container ends by itself. */
  endContainer(index: number, code: number): void {
    const running = this.running();
    const ending = running[index % Math.max(running.length, 1)];
    if (!ending) return;
    this.#say(`container ${ending.container} of ${ending.podName} ends with ${code}`);
    this.#engine.endContainer(ending, code);
  }

  #say(what: string): void {
    this.#parts.chronicle.record(this.name, what);
  }

  #makeAgent(): HostAgent {
    const {
      name: nodeName,
      labels,
      timeline,
      random: chance,
      speed: pace,
      chronicle,
      hasManifests,
      mayStarve,
    } = this.#parts;
    const { dial, onStarted, onStopped, handoverWatcher: turnWatcher, note } = this.#parts;
    return new HostAgent({
      ...{
        nodeName,
        labels,
        timeline,
        random: chance,
        speed: pace,
        chronicle,
        hasManifests,
        handoverWatcher: turnWatcher,
        note,
      },
      wall: this.wall,
      engine: this.#engine,
      disk: this.#disk,
      ...(mayStarve && { shortage: this.#shortage }),
      boot: () => ({ number: this.#boots, atMs: this.#bootedAtMs }),
      isBusy: () => this.#busySinceMs !== undefined,
      amendStatus: (status) => this.#pressed(status),
      coordinators: this.#parts.coordinators,
      dial: (life, target) => dial(this, life, target),
      engineWatcher: {
        onStarted: (podUid) => onStarted(this, podUid),
        onStopped: (podUid) => onStopped(this, podUid),
      },
    });
  }

  #pressed(status: NodeStatus): NodeStatus {
    const conditions = status.conditions?.map((condition) =>
      this.#pressures.has(condition.type as Pressure)
        ? { ...condition, status: 'True' as const, reason: 'Simulated', message: 'as a history has it' }
        : condition,
    );
    return { ...status, ...(conditions && { conditions }) };
  }
}
