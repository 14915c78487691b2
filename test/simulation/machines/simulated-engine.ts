/** The engine of a simulated host: a hollow one that outlives the agent, stops, hangs, and is worked on by hand. */

import { HollowDriver } from '../../../agent/runtime/hollow/hollow-driver.js';
import { HollowEngine } from '../../../agent/runtime/hollow/hollow-engine.js';
import type { ImageBehaviourRow } from '../../../agent/runtime/hollow/image-behaviours.js';
import type { ContainerOwner, RuntimeDriver, RuntimeEvent } from '../../../agent/runtime/runtime-driver.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { ProgramLifetime } from './program-lifetime.js';

/** Exit code of a process that a power cut ended. */
const KILLED = 137;

/** Additional images for histories. Their names describe their behaviour. */
const IMAGES: readonly ImageBehaviourRow[] = [
  { pattern: '*:slow*', pull: { afterMs: 4_000 }, ready: { afterMs: 3_000 }, stop: { afterMs: 5_000 } },
  { pattern: '*:stubborn*', stop: { afterMs: 600_000 } },
  { pattern: '*:crash*', exit: { afterMs: 6_000, code: 1 } },
  { pattern: '*job:short', exit: { afterMs: 2_000, code: 0 }, log: ['done'] },
  { pattern: '*job:long', exit: { afterMs: 30_000, code: 0 }, stop: { afterMs: 600_000 } },
  { pattern: '*job:slow', pull: { afterMs: 4_000 }, exit: { afterMs: 8_000, code: 0 } },
  { pattern: '*job:fails', exit: { afterMs: 3_000, code: 1 } },
  { pattern: '*:absent*', pull: { error: { reason: 'ErrImagePull', message: 'manifest unknown' } } },
];

/** A container on the host. */
export interface HostContainer {
  isRunning: boolean;
  /** Undefined while it runs, and before it was started. */
  exitCode: number | undefined;
  /** As `NAME=value`. */
  env: readonly string[];
  podUid: string;
  podName: string;
  container: string;
  image: string;
}

/** Receives the engine operations of the agent, with the uids of the Pods. */
export interface EngineWatcher {
  /** A container of this Pod runs now. */
  onStarted: (podUid: string) => void;
  /** A running container of this Pod receives the stop signal. */
  onStopped: (podUid: string) => void;
}

export class HostEngine {
  readonly #engine: HollowEngine;
  readonly #owner: ContainerOwner;
  /** Callers that wait for the hanging engine. */
  #waiting: (() => void)[] | undefined;

  constructor(clock: Clock, owner: ContainerOwner) {
    this.#engine = new HollowEngine({ clock, images: IMAGES });
    this.#owner = owner;
  }

  /** All containers, running or not. */
  containers(): HostContainer[] {
    return this.#engine.ownedBy(this.#owner).map(({ identity, image, state, exitCode, config }) => ({
      isRunning: state === 'running',
      exitCode: state === 'exited' ? exitCode : undefined,
      env: config.env,
      podUid: identity.podUid,
      podName: identity.podName,
      container: identity.container,
      image,
    }));
  }

  running(): HostContainer[] {
    return this.containers().filter(({ isRunning }) => isRunning);
  }

  killAll(): void {
    for (const container of this.running()) this.endContainer(container, KILLED);
  }

  shutDown(message: string): void {
    this.#engine.command({ command: 'engine-down', message });
  }

  startUp(): void {
    this.#engine.command({ command: 'engine-up' });
  }

  /** It takes calls and answers none. */
  hang(): void {
    this.#waiting ??= [];
  }

  resume(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const goOn of waiting) goOn();
  }

  endContainer({ podUid, container }: HostContainer, code: number): void {
    this.#engine.command({ command: 'exit', podUid, code, container });
  }

  /** By hand, behind the agent's back: the n-th container, running or not. Answers its Pod's name. */
  removeContainer(index: number): string | undefined {
    const containers = this.#engine.ownedBy(this.#owner);
    const container = containers[index % Math.max(containers.length, 1)];
    if (container) this.#engine.remove(container);
    return container?.identity.podName;
  }

  /** Its interface for one life of the agent, each call a deed. */
  driverFor(life: ProgramLifetime, { onStarted, onStopped }: EngineWatcher): RuntimeDriver {
    const inner = new HollowDriver(this.#engine, this.#owner);
    const call = <T>(operation: () => Promise<T>) => life.perform(() => this.#whenAnswering(operation));
    const own: Partial<RuntimeDriver> = {
      start: (id) =>
        call(async () => {
          await inner.start(id);
          const uid = this.#podOf(id);
          if (uid !== undefined) onStarted(uid);
        }),
      stop: (id, graceSeconds) =>
        call(() => {
          const uid = this.#podOf(id, 'running');
          if (uid !== undefined) onStopped(uid);
          return inner.stop(id, graceSeconds);
        }),
      logs: async function* (id, request, signal) {
        await call(async () => undefined);
        yield* inner.logs(id, request, signal);
      },
      events: (signal) => delayedEvents(inner, life, signal),
      close: () => inner.close(),
    };
    return new Proxy(inner as RuntimeDriver, {
      get: (_, name) => {
        const present = Reflect.get(own, name) as unknown;
        if (present) return present;
        const member = Reflect.get(inner, name) as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => call(() => member.apply(inner, args));
      },
    });
  }

  #podOf(id: string, state?: string): string | undefined {
    const found = this.#engine.ownedBy(this.#owner).find((container) => container.id === id);
    return found && (state === undefined || found.state === state) ? found.identity.podUid : undefined;
  }

  async #whenAnswering<T>(operation: () => Promise<T>): Promise<T> {
    while (this.#waiting) await new Promise<void>((resolve) => this.#waiting?.push(resolve));
    return operation();
  }
}

async function* delayedEvents(
  driver: HollowDriver,
  life: ProgramLifetime,
  signal: AbortSignal,
): AsyncGenerator<RuntimeEvent, void> {
  // Not AbortSignal.any: while it has a listener, Node.js keeps it and the whole history in memory.
  const over = new AbortController();
  const end = () => over.abort();
  for (const each of [signal, life.signal]) each.addEventListener('abort', end);
  if (signal.aborted || life.signal.aborted) end();
  for await (const event of driver.events(over.signal)) {
    await life.pause(life.delayMs());
    if (over.signal.aborted) return;
    yield event;
  }
}
