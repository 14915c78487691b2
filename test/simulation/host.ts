/** A simulated host: the real agent over a hollow engine, a file for its cache and a cable. Containers outlive the agent. */

import type { WebSocket } from 'ws';
import { createAgent } from '../../agent/agent.js';
import { ConfigCache } from '../../agent/desired/config-cache.js';
import { DesiredCache } from '../../agent/desired/desired-cache.js';
import type { DurableFile } from '../../agent/desired/durable-file.js';
import type { RuntimeDriver, RuntimeEvent } from '../../agent/runtime/driver.js';
import { FakeDriver } from '../../agent/runtime/fake.js';
import { FakeEngine } from '../../agent/runtime/fake-engine.js';
import type { ImageRow } from '../../agent/runtime/fake-images.js';
import { SteadyTimes } from '../../agent/runtime/steady-times.js';
import { hollowHost, hollowParts } from '../../agent/simulate/hollow-host.js';
import { steadyClock } from '../../shared/process/clock.js';
import { type Running, startInOrder } from '../../shared/process/lifecycle.js';
import type { Chronicle } from './chronicle.js';
import { type Doom, Life, type Pace, START_MS, type WallClock } from './life.js';
import type { Cable, SimulatedSocket } from './network.js';
import type { Seeded } from './seeded.js';
import type { Timeline } from './timeline.js';

/** Exit code of a process that a power cut ended. */
const KILLED = 137;

/** Images that histories use, beside the defaults: their names say what they do. */
const IMAGES: readonly ImageRow[] = [
  { pattern: '*:slow*', pull: { afterMs: 4_000 }, ready: { afterMs: 3_000 }, stop: { afterMs: 5_000 } },
  { pattern: '*:stubborn*', stop: { afterMs: 600_000 } },
  { pattern: '*:crash*', exit: { afterMs: 6_000, code: 1 } },
  { pattern: '*:absent*', pull: { error: { reason: 'ErrImagePull', message: 'manifest unknown' } } },
];

export interface HostParts {
  name: string;
  labels: Record<string, string>;
  clusterUID: string;
  timeline: Timeline;
  chance: Seeded;
  pace: Pace;
  chronicle: Chronicle;
  cable: Cable;
  /** Opens a connection to the coordinator. */
  dial: (host: SimulatedHost, life: Life) => SimulatedSocket;
  /** A container of this Pod runs now. */
  onStarted: (host: SimulatedHost, podUid: string) => void;
}

/** A container as it stands on the host. */
export interface HostContainer {
  isRunning: boolean;
  podUid: string;
  podName: string;
  container: string;
  image: string;
}

export class SimulatedHost {
  readonly cable: Cable;
  readonly wall: WallClock = { offsetMs: 0 };
  readonly #parts: HostParts;
  readonly #engine: FakeEngine;
  #file: string | undefined;
  #boots = 1;
  #lives = 0;
  #life: Life | undefined;
  #running: Running | undefined;
  isPowered = true;

  constructor(parts: HostParts) {
    const { timeline } = parts;
    this.#parts = parts;
    this.cable = parts.cable;
    // The engine is a program of its own: it goes on when the agent ends.
    const clock = new Life(timeline, this.wall, parts.chance.stream('engine'), parts.pace, () => undefined)
      .clock;
    this.#engine = new FakeEngine({ clock, images: IMAGES });
  }

  get name(): string {
    return this.#parts.name;
  }

  get isAgentUp(): boolean {
    return this.#life !== undefined && !this.#life.isOver;
  }

  /** What runs now. */
  running(): HostContainer[] {
    return this.containers().filter(({ isRunning }) => isRunning);
  }

  /** What is there, running or not. */
  containers(): HostContainer[] {
    return this.#engine.ownedBy(this.#owner).map(({ identity, image, state }) => ({
      isRunning: state === 'running',
      podUid: identity.podUid,
      podName: identity.podName,
      container: identity.container,
      image,
    }));
  }

  startAgent(): void {
    if (this.isAgentUp || !this.isPowered) return;
    const { timeline, chance, pace } = this.#parts;
    this.#lives += 1;
    const stream = chance.stream(`agent-${this.#lives}`);
    const life: Life = new Life(timeline, this.wall, stream, pace, () => this.crashAgent());
    this.#life = life;
    this.#say('the agent starts');
    void this.#run(life, stream).catch((error: unknown) =>
      this.#say(`the agent could not start: ${String(error)}`),
    );
  }

  /** Told to stop, as by systemd; its containers go on. */
  stopAgent(): void {
    const life = this.#life;
    if (!life || !this.#running) {
      this.crashAgent();
      return;
    }
    this.#say('the agent is told to stop');
    const stopped = this.#running.stop();
    this.#running = undefined;
    void stopped.then(() => life.end());
  }

  /** kill -9. */
  crashAgent(): void {
    if (!this.isAgentUp) return;
    this.#say('the agent is killed');
    this.#life?.end();
    this.#running = undefined;
  }

  doomAgent(doom: Doom): void {
    this.#life?.doom(doom);
  }

  /** All ends at once, and nobody is told. */
  cutPower(): void {
    this.isPowered = false;
    this.#say('power cut');
    this.crashAgent();
    this.#killContainers();
    this.#engine.command({ command: 'engine-down', message: 'the host is off' });
  }

  boot(): void {
    if (this.isPowered) return;
    this.#say('boots');
    this.#boots += 1;
    this.isPowered = true;
    this.#engine.command({ command: 'engine-up' });
    this.startAgent();
  }

  /** The file under the desired cache is rubbish from now on: what a power cut may leave of a bad disk. */
  damageCache(): void {
    if (this.#file !== undefined) this.#file = `${this.#file.slice(0, 40)}\u0000`;
  }

  stopEngine(killsContainers: boolean): void {
    if (!this.isPowered) return;
    this.#say(`the engine stops${killsContainers ? ', its containers with it' : '; its containers go on'}`);
    if (killsContainers) this.#killContainers();
    this.#engine.command({ command: 'engine-down', message: 'engine restarts' });
  }

  startEngine(): void {
    if (this.isPowered) this.#engine.command({ command: 'engine-up' });
  }

  /** The n-th running container ends by itself. */
  endContainer(index: number, code: number): void {
    const running = this.running();
    const { podUid, podName, container } = running[index % Math.max(running.length, 1)] ?? {};
    if (podUid === undefined || container === undefined) return;
    this.#say(`container ${container} of ${podName} ends with ${code}`);
    this.#engine.command({ command: 'exit', podUid, code, container });
  }

  get #owner(): { clusterUID: string; nodeName: string } {
    return { clusterUID: this.#parts.clusterUID, nodeName: this.name };
  }

  #say(what: string): void {
    this.#parts.chronicle.tell(this.name, what);
  }

  #killContainers(): void {
    for (const { podUid, container } of this.running()) {
      this.#engine.command({ command: 'exit', podUid, code: KILLED, container });
    }
  }

  /** As agent/main.ts does it. */
  async #run(life: Life, chance: Seeded): Promise<void> {
    const { name: nodeName, labels, chronicle, dial } = this.#parts;
    const clock = steadyClock(life.clock);
    const log = chronicle.logger(`${nodeName} agent`, () => life.isOver);
    const cache = await DesiredCache.open(this.#fileFor(life), clock, log);
    const boots = this.#boots;
    const agent = createAgent({
      ...hollowParts(),
      settings: { nodeName, labels, taints: [] },
      target: {
        url: 'wss://coordinator.invalid/',
        credential: nodeName,
        open: () => dial(this, life) as unknown as WebSocket,
      },
      driver: new SteadyTimes(this.#driverFor(life), clock, life.clock),
      cache,
      config: ConfigCache.inMemory(log),
      readHost: () => hollowHost(nodeName, boots, `10.0.0.${Number(nodeName.replace(/\D/g, ''))}`),
      clock,
      wallClock: life.clock,
      chance: { random: chance.fraction, uuid: chance.uuid },
      log,
    });
    const running = await startInOrder([{ name: 'cache', stop: () => cache.flush() }, ...agent.parts], log);
    if (!life.isOver) this.#running = running;
  }

  /** The engine's interface, each call a deed of the agent's life. */
  #driverFor(life: Life): RuntimeDriver {
    const inner = new FakeDriver(this.#engine, this.#owner);
    const start = (id: string) =>
      life.do(async () => {
        await inner.start(id);
        const uid = this.#engine.ownedBy(this.#owner).find((container) => container.id === id)
          ?.identity.podUid;
        if (uid !== undefined) this.#parts.onStarted(this, uid);
      });
    const own: Partial<RuntimeDriver> = {
      start,
      events: (signal) => delayedEvents(inner, life, signal),
      close: () => inner.close(),
    };
    return new Proxy(inner as RuntimeDriver, {
      get: (_, name) => {
        const present = Reflect.get(own, name) as unknown;
        if (present) return present;
        const member = Reflect.get(inner, name) as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => life.do(() => member.apply(inner, args));
      },
    });
  }

  #fileFor(life: Life): DurableFile {
    return {
      read: () => life.do(() => this.#file),
      write: (text) =>
        life.do(() => {
          this.#file = text;
        }),
      setAside: (mark) =>
        life.do(() => {
          this.#file = undefined;
          return mark;
        }),
    };
  }
}

async function* delayedEvents(
  driver: FakeDriver,
  life: Life,
  signal: AbortSignal,
): AsyncGenerator<RuntimeEvent, void> {
  const either = AbortSignal.any([signal, life.signal]);
  for await (const event of driver.events(either)) {
    await life.pause(life.delayMs());
    if (either.aborted) return;
    yield event;
  }
}

/** ms since the epoch, true time. */
export function trueTime(timeline: Timeline): number {
  return START_MS + timeline.now;
}
