/** A simulated container engine. Drivers read its state; commands change it. */
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
  /** Checked before the default behaviours. */
  images?: readonly ImageBehaviourRow[];
  /** Checked before `images`. */
  podBehaviours?: PodBehaviours;
  /** Overrides the result of an exec command. If undefined, the image's behaviour applies. */
  outcomeOf?: OutcomeOf;
  /** Where to store the state. Without it the state is lost with the process. */
  stateFile?: string;
  /** Time until a container that runs to completion exits with 0. */
  completionMs?: number;
  /** Awaited before a driver lists containers, so that many engines share a process fairly. */
  waitForSlot?: () => Promise<void> | undefined;
}

/** Long enough that a Pod is seen running, short enough for `helm --wait` and `kubectl wait`. */
export const COMPLETION_MS = 1_000;

type OutcomeOf = (
  container: ContainerIdentity,
  command: readonly string[],
) => HollowProcessOutcome | undefined;

/** Behaviours that Pods request for their own containers and pulls. Undefined if a Pod requests none. */
interface PodBehaviours {
  forPod(podUid: string): ImageBehaviour | undefined;
  forImage(image: string): ImageBehaviour | undefined;
  /** Called for each change of a container, before drivers see the change. */
  onChange?(): void;
}

/** All times are times of `clock`. */
export class HollowEngine {
  readonly #clock: Clock;
  readonly #rows: readonly ImageBehaviourRow[];
  readonly #podBehaviours: PodBehaviours | undefined;
  readonly #outcomeOf: OutcomeOf | undefined;
  readonly #stateFile: string | undefined;
  readonly #completionMs: number;
  readonly waitForSlot: () => Promise<void> | undefined;
  readonly #containers = new Map<string, HollowContainer>();
  readonly #overrides: Map<string, PodOverride>;
  readonly #lifetimes: HollowContainerTimers;
  readonly #listeners = new HollowEventListeners();
  readonly images: HollowImages;
  /** Images of all containers that this process has started. */
  readonly #startedImages = new Set<string>();
  #down: string | undefined;

  constructor(options: HollowEngineOptions) {
    const { clock, images = [], podBehaviours, outcomeOf, stateFile, waitForSlot } = options;
    this.#clock = clock;
    this.#completionMs = options.completionMs ?? COMPLETION_MS;
    this.waitForSlot = waitForSlot ?? (() => undefined);
    this.#rows = images;
    this.#podBehaviours = podBehaviours;
    this.#outcomeOf = outcomeOf;
    this.#stateFile = stateFile;
    this.#lifetimes = new HollowContainerTimers(clock);
    const state = this.#load();
    this.#overrides = new Map(Object.entries(state.overrides));
    this.images = new HollowImages({
      clock,
      behaviourOf: (image) => podBehaviours?.forImage(image) ?? behaviourOf(image, images),
      images: state.images,
      onChange: () => this.#save(),
    });
    for (const container of state.containers) {
      this.#containers.set(container.id, container);
      if (container.state === 'running') this.#schedule(container);
    }
  }

  /** The time of the engine's clock. */
  now(): number {
    return this.#clock.now();
  }

  /** Runs a command. Returns how many containers it affects now. */
  command(command: HollowEngineCommand): number {
    switch (command.command) {
      case 'ready':
      case 'unready':
        return this.#override(command.podUid, { ready: command.command === 'ready' });
      case 'fail':
        return this.#override(command.podUid, { phase: 'Failed' });
      case 'succeed':
        return this.#override(command.podUid, { phase: 'Succeeded' });
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

  /** Throws `EngineDown` after the command `engine-down`. */
  assertUp(): void {
    if (this.#down !== undefined) throw new RuntimeError('EngineDown', this.#down, true);
  }

  /** Returns whether a container of this image was started since the engine was created. */
  hasStarted(image: string): boolean {
    return this.#startedImages.has(image);
  }

  /**
   * Returns how a container behaves. Unless the image's row or the Pod says otherwise, an init container succeeds at once,
   * and a container that runs to completion succeeds after a moment. Without this rule no Job and no hook of a chart would
   * end. An interactive container waits for its input.
   */
  behaviour({ image, identity, labels, config }: HollowContainer): ImageBehaviour {
    if (labels[CONTAINER_ROLE_LABEL] === 'init')
      return { exit: { afterMs: 0, code: 0 }, ...behaviourOf(image, this.#rows) };
    const behaviour = this.#podBehaviours?.forPod(identity.podUid) ?? behaviourOf(image, this.#rows);
    if (!config.runsToCompletion || config.stdin) return behaviour;
    return { exit: { afterMs: this.#completionMs, code: 0 }, ...behaviour };
  }

  podOverride(podUid: string): PodOverride {
    return this.#overrides.get(podUid) ?? {};
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
    // Emits no event, like Docker's driver (`ACTIONS` in docker-events.ts).
    this.#store();
    return id;
  }

  /** Does nothing if the container runs. */
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

  /** Sends SIGTERM. Resolves when the container has exited. */
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

  /** Runs another process in the container: result by `outcomeOf`, the image's row, or the simulated program. */
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

  #override(podUid: string, override: PodOverride): number {
    this.#overrides.set(podUid, { ...this.#overrides.get(podUid), ...override });
    this.#save();
    this.#listeners.publish({ kind: 'container', podUid });
    return [...this.#containers.values()].filter(({ identity }) => identity.podUid === podUid).length;
  }

  #exitByCommand(podUid: string, code: number, name: string | undefined): number {
    const affected = [...this.#containers.values()].filter(
      ({ identity, state }) =>
        identity.podUid === podUid &&
        state === 'running' &&
        (name === undefined ? identity.container !== SANDBOX : identity.container === name),
    );
    for (const container of affected) this.#exit(container, code);
    return affected.length;
  }

  /** Schedules readiness and exit. The time since the container's start counts, also after a restart. */
  #schedule(container: HollowContainer): void {
    const { ready, exit } = this.behaviour(container);
    const passed = this.#clock.now() - (container.startedAt ?? 0);
    if (exit && exit !== 'never') {
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

  /** Returns a signal that aborts when the container exits. */
  #whileRunning(container: HollowContainer): AbortSignal {
    const controller = new AbortController();
    void this.#whenEnded(container).then(() => controller.abort());
    return controller.signal;
  }

  async #whenEnded(container: HollowContainer): Promise<void> {
    if (container.state === 'running') await this.#lifetimes.whenEnded(container.id);
  }

  /** Derives an address of 10.0.0.0/8 from the id, so that it is the same after a restart of the agent. */
  #address(container: HollowContainer): string {
    return `10.${[0, 2, 4].map((at) => Number.parseInt(container.id.slice(at, at + 2), 16)).join('.')}`;
  }

  #store(): void {
    this.#save();
    this.#podBehaviours?.onChange?.();
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
      overrides: Object.fromEntries(this.#overrides),
    });
  }
}
