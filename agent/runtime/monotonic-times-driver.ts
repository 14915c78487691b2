/** An engine's times, which are the wall clock's, told by the host's steady clock. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../shared/process/time/clock.js';
import type {
  AttachedStreams,
  AttachRequest,
  ContainerConfig,
  ContainerStorage,
  ContainerUsage,
  EngineImage,
  EngineInfo,
  ExecProcess,
  ExecRequest,
  LogRequest,
  ObservedContainer,
  PullRequest,
  RuntimeDriver,
  RuntimeEvent,
} from './runtime-driver.js';

/** A smaller difference is the reading's own noise: following it would make times flicker. */
const STEP_MS = 1000;

/**
 * The driver itself, save that the times of containers do not jump with the wall clock: a host that learns in the
 * middle of its day that it is not 1970 must not take its containers for decades old.
 */
export class MonotonicTimesDriver implements RuntimeDriver {
  readonly #driver: RuntimeDriver;
  readonly #steady: Clock;
  readonly #wall: Clock;
  readonly #uptimeMs: () => number;
  /** By container: each time that the engine told, and what it is here. The wall clock may have been set since. */
  #told = new Map<string, Map<number, number>>();
  #offsetMs = 0;

  /** `uptimeMs`: since the host's boot, which nothing that runs is older than. */
  constructor(driver: RuntimeDriver, steady: Clock, wall: Clock, uptimeMs = () => Number.POSITIVE_INFINITY) {
    this.#driver = driver;
    this.#steady = steady;
    this.#wall = wall;
    this.#uptimeMs = uptimeMs;
  }

  async list(): Promise<ObservedContainer[]> {
    const containers = await this.#driver.list();
    const ids = new Set(containers.map(({ id }) => id));
    this.#told = new Map([...this.#told].filter(([id]) => ids.has(id)));
    return this.#shifted(containers);
  }

  async inspectPod(podUid: string): Promise<ObservedContainer[]> {
    return this.#shifted(await this.#driver.inspectPod(podUid));
  }

  info(): Promise<EngineInfo> {
    return this.#driver.info();
  }

  events(signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    return this.#driver.events(signal);
  }

  storage(podUid: string): Promise<ContainerStorage[]> {
    return this.#driver.storage(podUid);
  }

  findImage(image: string): Promise<EngineImage | undefined> {
    return this.#driver.findImage(image);
  }

  pull(request: PullRequest): Promise<void> {
    return this.#driver.pull(request);
  }

  tag(image: string, name: string): Promise<void> {
    return this.#driver.tag(image, name);
  }

  imagesInUse(): Promise<ReadonlySet<string>> {
    return this.#driver.imagesInUse();
  }

  removeImage(image: string): Promise<void> {
    return this.#driver.removeImage(image);
  }

  ensureSandboxImage(): Promise<string> {
    return this.#driver.ensureSandboxImage();
  }

  create(config: ContainerConfig, onWarning?: (text: string) => void): Promise<string> {
    return this.#driver.create(config, onWarning);
  }

  start(id: string): Promise<void> {
    return this.#driver.start(id);
  }

  stop(id: string, graceSeconds: number): Promise<void> {
    return this.#driver.stop(id, graceSeconds);
  }

  remove(id: string): Promise<void> {
    return this.#driver.remove(id);
  }

  /** `sinceMs` is the wall clock's, as the lines' own times are. */
  logs(id: string, request: LogRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#driver.logs(id, request, signal);
  }

  exec(id: string, request: ExecRequest, signal: AbortSignal): Promise<ExecProcess> {
    return this.#driver.exec(id, request, signal);
  }

  attach(id: string, request: AttachRequest, signal: AbortSignal): Promise<AttachedStreams> {
    return this.#driver.attach(id, request, signal);
  }

  dial(id: string, port: number, signal: AbortSignal): Promise<Duplex> {
    return this.#driver.dial(id, port, signal);
  }

  usage(): Promise<ContainerUsage[]> {
    return this.#driver.usage();
  }

  close(): void {
    this.#driver.close();
  }

  #shifted(containers: ObservedContainer[]): ObservedContainer[] {
    const offsetMs = this.#steady.now() - this.#wall.now();
    if (Math.abs(offsetMs - this.#offsetMs) >= STEP_MS) this.#offsetMs = offsetMs;
    return containers.map((container) => this.#timed(container));
  }

  #timed(container: ObservedContainer): ObservedContainer {
    const { id, state, createdAt, startedAt, finishedAt } = container;
    const told = this.#told.get(id) ?? new Map<number, number>();
    this.#told.set(id, told);
    const oldest = state === 'running' ? this.#steady.now() - this.#uptimeMs() : Number.NEGATIVE_INFINITY;
    const time = (raw: number, earliest: number): number => {
      const known = told.get(raw) ?? this.#firstTold(raw, earliest);
      told.set(raw, known);
      return known;
    };
    return {
      ...container,
      createdAt: time(createdAt, oldest),
      ...(startedAt === undefined ? {} : { startedAt: time(startedAt, oldest) }),
      ...(finishedAt === undefined ? {} : { finishedAt: time(finishedAt, Number.NEGATIVE_INFINITY) }),
    };
  }

  /** Of a time before the wall clock was set nobody can tell more than that it has passed, and what cannot be earlier. */
  #firstTold(raw: number, earliest: number): number {
    const now = this.#steady.now();
    const time = Math.max(raw + this.#offsetMs, earliest);
    return time > now + STEP_MS ? now : time;
  }
}
