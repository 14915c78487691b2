/** An engine's times, which are the wall clock's, told by the host's steady clock. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../shared/process/clock.js';
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
} from './driver.js';

/** A smaller difference is the reading's own noise: following it would make times flicker. */
const STEP_MS = 1000;

/**
 * The driver itself, save that the times of containers do not jump with the wall clock: a host that learns in the
 * middle of its day that it is not 1970 must not take its containers for decades old.
 */
export class SteadyTimes implements RuntimeDriver {
  readonly #driver: RuntimeDriver;
  readonly #steady: Clock;
  readonly #wall: Clock;
  #offsetMs = 0;

  constructor(driver: RuntimeDriver, steady: Clock, wall: Clock) {
    this.#driver = driver;
    this.#steady = steady;
    this.#wall = wall;
  }

  async list(): Promise<ObservedContainer[]> {
    return this.#shifted(await this.#driver.list());
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
    const shift = this.#offsetMs;
    if (shift === 0) return containers;
    return containers.map((container) => ({
      ...container,
      createdAt: container.createdAt + shift,
      ...(container.startedAt === undefined ? {} : { startedAt: container.startedAt + shift }),
      ...(container.finishedAt === undefined ? {} : { finishedAt: container.finishedAt + shift }),
    }));
  }
}
