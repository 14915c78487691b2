/** A container engine without containers: the state that hollow drivers see and commands change. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../../shared/process/time/clock.js';
import { CONTAINER_ROLE_LABEL } from '../../decisions/container-spec/container-labels.js';
import {
  type ContainerConfig,
  type ContainerIdentity,
  type ContainerOwner,
  type ExecRequest,
  RuntimeError,
  type RuntimeEvent,
  SANDBOX,
} from '../runtime-driver.js';
import type { HollowEngineCommand } from './hollow-command.js';
import { HollowContainerTimers } from './hollow-container-timers.js';
import { HollowEventListeners, isSameOwner } from './hollow-event-listeners.js';
import { HollowImages, hollowImageID } from './hollow-images.js';
import { HollowProcess, type HollowProcessOutcome } from './hollow-process.js';
import {
  type HollowContainer,
  type HollowState,
  loadHollowState,
  type PodOverride,
  saveHollowState,
} from './hollow-state.js';
import { behaviourOf, type ImageBehaviour, type ImageBehaviourRow } from './image-behaviours.js';

interface HollowEngineOptions {
  clock: Clock;
  /** Rows that go before the defaults. */
  images?: readonly ImageBehaviourRow[];
  /** Goes before the rows. */
  podBehaviours?: PodBehaviours;
  /** How a command in a container comes out; undefined = as the image's row or `HollowProcess` has it. */
  outcomeOf?: OutcomeOf;
  /** Where to keep the state; absent = it ends with the process. */
  stateFile?: string;
  /** Waited for before a driver's look: what it answers is when the engine has time for it, nothing = now. */
  waitForSlot?: () => Promise<void> | undefined;
}

type OutcomeOf = (
  container: ContainerIdentity,
  command: readonly string[],
) => HollowProcessOutcome | undefined;

/** What Pods ask of their own containers and pulls; undefined where a Pod asks nothing. */
interface PodBehaviours {
  forPod(podUid: string): ImageBehaviour | undefined;
  forImage(image: string): ImageBehaviour | undefined;
  /** Hears at once that a container is otherwise, before anybody else does. */
  onChange?(): void;
}

/** All times are those of the given clock. */
export class HollowEngine {
  readonly #clock: Clock;
  readonly #rows: readonly ImageBehaviourRow[];
  readonly #pretence: PodBehaviours | undefined;
  readonly #outcomeOf: OutcomeOf | undefined;
  readonly #stateFile: string | undefined;
  readonly waitForSlot: () => Promise<void> | undefined;
  readonly #containers = new Map<string, HollowContainer>();
  readonly #orders: Map<string, PodOverride>;
  readonly #lifetimes: HollowContainerTimers;
  readonly #listeners = new HollowEventListeners();
  readonly images: HollowImages;
  /** Of all containers that this process has started. */
  readonly #startedImages = new Set<string>();
  #down: string | undefined;

  constructor({
    clock,
    images = [],
    podBehaviours: pretence,
    outcomeOf,
    stateFile,
    waitForSlot: turn,
  }: HollowEngineOptions) {
    this.#clock = clock;
    this.waitForSlot = turn ?? (() => undefined);
    this.#rows = images;
    this.#pretence = pretence;
    this.#outcomeOf = outcomeOf;
    this.#stateFile = stateFile;
    this.#lifetimes = new HollowContainerTimers(clock);
    const state = this.#load();
    this.#orders = new Map(Object.entries(state.overrides));
    this.images = new HollowImages({
      clock,
      behaviourOf: (image) => pretence?.forImage(image) ?? behaviourOf(image, images),
      images: state.images,
      onChange: () => this.#save(),
    });
    for (const container of state.containers) {
      this.#containers.set(container.id, container);
      if (container.state === 'running') this.#schedule(container);
    }
  }

  /** The time by its clock. */
  now(): number {
    return this.#clock.now();
  }

  /** Does what a test asks; answers how many containers are meant by it now. */
  command(command: HollowEngineCommand): number {
    switch (command.command) {
      case 'ready':
      case 'unready':
        return this.#order(command.podUid, { ready: command.command === 'ready' });
      case 'fail':
        return this.#order(command.podUid, { phase: 'Failed' });
      case 'succeed':
        return this.#order(command.podUid, { phase: 'Succeeded' });
      case 'exit':
        return this.#exitByCommand(command.podUid, command.code, command.container);
      case 'engine-down':
        this.#down = command.message;
        this.#listeners.publish({ kind: 'down', message: command.message });
        return this.#containers.size;
      case 'engine-up':
        this.#down = undefined;
        this.#listeners.publish({ kind: 'resync' });
        return this.#containers.size;
    }
  }

  /** Throws `EngineDown` while the engine was told to be down. */
  assertUp(): void {
    if (this.#down !== undefined) throw new RuntimeError('EngineDown', this.#down, true);
  }

  /** Whether a container of this image was started since the engine was made. */
  hasStarted(image: string): boolean {
    return this.#startedImages.has(image);
  }

  /** What a container does. An init container has done its work at once, unless its image's row says otherwise. */
  behaviour({ image, identity, labels }: HollowContainer): ImageBehaviour {
    if (labels[CONTAINER_ROLE_LABEL] === 'init')
      return { exit: { afterMs: 0, code: 0 }, ...behaviourOf(image, this.#rows) };
    return this.#pretence?.forPod(identity.podUid) ?? behaviourOf(image, this.#rows);
  }

  podOverride(podUid: string): PodOverride {
    return this.#orders.get(podUid) ?? {};
  }

  ownedBy(owner: ContainerOwner): HollowContainer[] {
    return [...this.#containers.values()].filter((container) => isSameOwner(container.owner, owner));
  }

  create(owner: ContainerOwner, config: ContainerConfig): string {
    const { podUid, container: name, attempt } = config.identity;
    const id = createHash('sha256').update(`${podUid}_${name}_${attempt}`).digest('hex');
    if (this.#containers.has(id))
      throw new RuntimeError('Conflict', `container ${podUid}_${name}_${attempt} exists`, false);
    const container: HollowContainer = {
      id,
      owner,
      config,
      identity: config.identity,
      state: 'created',
      image: config.image,
      imageID: hollowImageID(config.image),
      createdAt: this.#clock.now(),
      oomKilled: false,
      labels: config.labels,
      ready: false,
    };
    this.#containers.set(id, container);
    // No event: Docker's driver reports none for a creation (`ACTIONS` in docker-events.ts).
    this.#store();
    return id;
  }

  /** Starting the running changes nothing. */
  start(container: HollowContainer): void {
    if (container.state === 'running') return;
    const { start, ready } = this.behaviour(container);
    if (start) {
      container.error = start.error;
      this.#changed(container);
      throw new RuntimeError('RunContainerError', start.error, false);
    }
    container.state = 'running';
    this.#startedImages.add(container.image);
    container.startedAt = this.#clock.now();
    container.ready = ready === undefined;
    if (container.config.network.kind === 'bridge') container.ip = this.#address(container);
    this.#schedule(container);
    this.#changed(container);
  }

  /** SIGTERM; resolves when it has ended. */
  async stop(container: HollowContainer, graceSeconds: number): Promise<void> {
    if (container.state !== 'running') return;
    const takesMs = this.behaviour(container).stop?.afterMs ?? 0;
    const graceMs = graceSeconds * 1000;
    if (takesMs === 0) return this.#exit(container, 0);
    const ended = this.#whenEnded(container);
    this.#lifetimes.schedule(container.id, Math.min(takesMs, graceMs), () =>
      this.#exit(container, takesMs > graceMs ? 137 : 0),
    );
    return ended;
  }

  remove(container: HollowContainer): void {
    if (container.state === 'running') this.#exit(container, 137);
    this.#containers.delete(container.id);
    this.#changed(container);
  }

  async whenEnded(container: HollowContainer, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    await Promise.race([this.#whenEnded(container), aborted]);
  }

  /** A process beside the container's own; how it comes out says the test, else the image's row, else the program. */
  exec(container: HollowContainer, request: ExecRequest): HollowProcess {
    if (container.state !== 'running') {
      throw new RuntimeError('NotRunning', `container ${container.id} is not running`, false);
    }
    const outcome =
      this.#outcomeOf?.(container.identity, request.command) ??
      this.behaviour(container).exec?.[request.command.join(' ')];
    return new HollowProcess(request, outcome, this.#clock, this.#whileRunning(container));
  }

  events(owner: ContainerOwner, signal: AbortSignal): AsyncIterable<RuntimeEvent> {
    const first: RuntimeEvent =
      this.#down === undefined ? { kind: 'resync' } : { kind: 'down', message: this.#down };
    return this.#listeners.listen(owner, first, signal);
  }

  #order(podUid: string, order: PodOverride): number {
    this.#orders.set(podUid, { ...this.#orders.get(podUid), ...order });
    this.#save();
    this.#listeners.publish({ kind: 'container', podUid });
    return [...this.#containers.values()].filter(({ identity }) => identity.podUid === podUid).length;
  }

  #exitByCommand(podUid: string, code: number, name: string | undefined): number {
    const meant = [...this.#containers.values()].filter(
      ({ identity, state }) =>
        identity.podUid === podUid &&
        state === 'running' &&
        (name === undefined ? identity.container !== SANDBOX : identity.container === name),
    );
    for (const container of meant) this.#exit(container, code);
    return meant.length;
  }

  /** What the image does by itself from its start on, less the time that has passed since. */
  #schedule(container: HollowContainer): void {
    const { ready, exit } = this.behaviour(container);
    const passed = this.#clock.now() - (container.startedAt ?? 0);
    if (exit) {
      this.#lifetimes.schedule(container.id, exit.afterMs - passed, () => {
        container.oomKilled = exit.oomKilled ?? false;
        this.#exit(container, exit.code);
      });
    }
    if (ready !== undefined && ready !== 'never' && !container.ready) {
      this.#lifetimes.schedule(container.id, ready.afterMs - passed, () => {
        container.ready = true;
        this.#changed(container);
      });
    }
  }

  #exit(container: HollowContainer, code: number): void {
    container.state = 'exited';
    container.exitCode = code;
    container.finishedAt = this.#clock.now();
    container.ready = false;
    this.#lifetimes.end(container.id);
    this.#changed(container);
  }

  /** Aborts when the container ends. */
  #whileRunning(container: HollowContainer): AbortSignal {
    const controller = new AbortController();
    void this.#whenEnded(container).then(() => controller.abort());
    return controller.signal;
  }

  async #whenEnded(container: HollowContainer): Promise<void> {
    if (container.state === 'running') await this.#lifetimes.whenEnded(container.id);
  }

  /** An address of 10.0.0.0/8 that follows from the id, so that a restart answers the same. */
  #address(container: HollowContainer): string {
    return `10.${[0, 2, 4].map((at) => Number.parseInt(container.id.slice(at, at + 2), 16)).join('.')}`;
  }

  #store(): void {
    this.#save();
    this.#pretence?.onChange?.();
  }

  #changed(container: HollowContainer): void {
    this.#store();
    this.#listeners.publish({ kind: 'container', podUid: container.identity.podUid }, container.owner);
  }

  #load(): HollowState {
    if (this.#stateFile === undefined) return { containers: [], images: [], overrides: {} };
    return loadHollowState(this.#stateFile);
  }

  #save(): void {
    if (this.#stateFile === undefined) return;
    saveHollowState(this.#stateFile, {
      containers: [...this.#containers.values()],
      images: this.images.names(),
      overrides: Object.fromEntries(this.#orders),
    });
  }
}
