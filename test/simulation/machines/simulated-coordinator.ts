/** The simulated machine of the coordinator: its real core over a simulated disk. */
import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { type CoordinatorCore, createCoordinatorCore } from '../../../coordinator/coordinator-core.js';
import { transportOf } from '../../../coordinator/hub/sessions/link-socket.js';
import { openEventStore } from '../../../coordinator/registry/events/event-store.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { Store } from '../../../coordinator/store/store.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import {
  type RunningComponents,
  startComponents,
} from '../../../shared/process/service/program-lifecycle.js';
import { NO_AUTHORITY } from '../../harness/api/test-authority.js';
import type { Chronicle } from '../runs/chronicle.js';
import { type CrashPoint, ProgramLifetime, type SpeedFactor, type WallClock } from './program-lifetime.js';
import type { SeededRandom } from './seeded-random.js';
import type { Cable, SimulatedSocket } from './simulated-network.js';
import { openSimulatedStore, type SimulatedDatabase } from './simulated-store.js';
import type { Timeline } from './timeline.js';

const GRACE_MS = 40_000;
/** Sockets in memory have no bytes of their own to count. */
const NO_TRANSPORT = new Duplex();

export interface CoordinatorDeps {
  disk: SimulatedDatabase;
  timeline: Timeline;
  random: SeededRandom;
  speed: SpeedFactor;
  chronicle: Chronicle;
  /** Something between the programs and the registry: how tests break the product on purpose. */
  wrapCore?: (core: CoordinatorCore) => CoordinatorCore;
  /** It ended by itself or by a crashAt. */
  onEnded: () => void;
  /** Counts an event. */
  note: (event: string) => void;
}

/** A coordinator, or several of them, as a world sees them. */
export interface Coordinators {
  /** The clock of the machine that leads. */
  readonly wall: WallClock;
  /** All offsets that its clock was seen to have. */
  readonly offsetsMs: Set<number>;
  /** Since when every address takes connections of agents, ms; undefined = some do not. */
  readonly listeningSinceMs: number | undefined;
  start(): void;
  /** kill -9 of the leader. */
  crash(): void;
  /** Stops the leader like systemd. */
  stop(): void;
  /** Kills the leader at an operation. */
  crashAt(crashAt: CrashPoint): void;
  confirmRestore(): void;
  call<T>(request: (registry: Registry) => Promise<T>): Promise<CallResult<T>>;
  entrance(address: string): Entrance;
  /** The addresses that agents may be configured with. Empty: there is one coordinator, which needs none. */
  readonly addresses: readonly string[];
}

/** Where a connection to an address ends. */
export type Entrance =
  | {
      kind: 'open';
      process: ProgramLifetime;
      /** Between the host's cable and the process. */
      cables: readonly Cable[];
      /** Gives the connection to the process. `end` ends it as a reset does. */
      accept(node: string, socket: SimulatedSocket, end: () => void): void;
    }
  /**
   * - `refused`: nothing listens.
   * - `unreachable`: no packet returns.
   * - `silent`: the connection is accepted, and the handshake gets no answer.
   * - `waits`: a coordinator that knows no leader keeps the connection for a while.
   */
  | { kind: 'refused' | 'unreachable' | 'silent' | 'waits' };

/** The result of a request as its client sees it. */
export type CallResult<T> =
  | { kind: 'acknowledged'; value: T }
  | { kind: 'refused'; error: ApiError }
  /** No response: the request may or may not have succeeded. */
  | { kind: 'unanswered' }
  | { kind: 'unreachable' };

/** A coordinator that serves. */
interface ServingCore {
  life: ProgramLifetime;
  core: CoordinatorCore;
  running: RunningComponents;
  sinceMs: number;
}

export class SimulatedCoordinator implements Coordinators {
  readonly wall: WallClock = { offsetMs: 0 };
  /** All offsets that its clock was seen to have. */
  readonly offsetsMs = new Set([0]);
  readonly #parts: CoordinatorDeps;
  #lives = 0;
  #life: ProgramLifetime | undefined;
  #serving: ServingCore | undefined;

  constructor(parts: CoordinatorDeps) {
    this.#parts = parts;
  }

  get isUp(): boolean {
    return this.#life !== undefined && !this.#life.isOver;
  }

  /** Since when it takes connections, ms; undefined = it does not. */
  get listeningSinceMs(): number | undefined {
    return this.#serving?.sinceMs;
  }

  start(): void {
    if (this.isUp) return;
    const { timeline, random: chance, speed: pace } = this.#parts;
    this.#lives += 1;
    const stream = chance.stream(`coordinator-${this.#lives}`);
    const life: ProgramLifetime = new ProgramLifetime(timeline, this.wall, stream, pace, () => this.crash());
    this.#life = life;
    this.#say('starts');
    this.#parts.note('coordinator starts');
    void this.#run(life, stream).catch((error: unknown) => {
      if (!life.isOver) this.#say(`could not start: ${String(error)}`);
      this.crash();
    });
  }

  /** kill -9, or the process's own end. */
  crash(): void {
    if (!this.isUp) return;
    this.#say('is killed');
    this.#parts.note('coordinator killed');
    this.#serving = undefined;
    this.#life?.end();
    this.#parts.onEnded();
  }

  /** Stops the coordinator like systemd. */
  stop(): void {
    const serving = this.#serving;
    if (!serving) {
      this.crash();
      return;
    }
    this.#say('is told to stop');
    this.#serving = undefined;
    void (async () => {
      await serving.core.hub.stop();
      await serving.running.stop();
      if (serving.life.isOver) return;
      serving.life.end();
      this.#parts.onEnded();
    })();
  }

  crashAt(crashAt: CrashPoint): void {
    this.#life?.crashAt(crashAt);
  }

  /** Agents have its address alone. */
  readonly addresses: readonly string[] = [];

  entrance(): Entrance {
    const serving = this.#serving;
    if (!serving) return { kind: 'refused' };
    return {
      ...{ kind: 'open', process: serving.life, cables: [] },
      accept: (node, socket) => acceptAgent(serving.core, node, socket),
    };
  }

  confirmRestore(): void {
    void this.#serving?.core.restore.confirm();
  }

  /** Returns the result that an API client would receive. */
  async call<T>(request: (registry: Registry) => Promise<T>): Promise<CallResult<T>> {
    const serving = this.#serving;
    if (!serving) return { kind: 'unreachable' };
    const { life, core } = serving;
    const ended = new Promise<CallResult<T>>((resolve) =>
      life.signal.addEventListener('abort', () => resolve({ kind: 'unanswered' })),
    );
    return Promise.race([ended, answerOf(life, () => request(core.registry))]);
  }

  #say(what: string): void {
    this.#parts.chronicle.record('coordinator', what);
  }

  async #run(life: ProgramLifetime, chance: SeededRandom): Promise<void> {
    const { disk, chronicle, wrapCore } = this.#parts;
    const log = chronicle.logger('coordinator', () => life.isOver);
    const store = openSimulatedStore(disk, life, () => this.crash());
    const { core, running } = await startSimulatedCore({ store, life, random: chance, log, wrapCore });
    if (!life.isOver) this.#serving = { life, core, running, sinceMs: this.#parts.timeline.now };
  }
}

interface SimulatedCoreDeps {
  store: Store;
  life: ProgramLifetime;
  random: SeededRandom;
  log: Logger;
  wrapCore?: ((core: CoordinatorCore) => CoordinatorCore) | undefined;
  /** The addresses of all coordinators. Absent if there is one. */
  coordinators?: readonly string[];
}

/** Builds and starts the product's core over a store, as coordinator/main.ts does. */
export async function startSimulatedCore(
  deps: SimulatedCoreDeps,
): Promise<{ core: CoordinatorCore; running: RunningComponents }> {
  const { store, life, random, log, coordinators, wrapCore = (same) => same } = deps;
  const core = wrapCore(
    createCoordinatorCore({
      store,
      eventStore: await openEventStore({ main: store, clock: life.clock, log }),
      objectMacKey: Buffer.alloc(32, 7),
      authority: NO_AUTHORITY,
      nodeMonitorGraceMs: GRACE_MS,
      ...(coordinators && {
        coordinatorList: { list: () => coordinators, machineNames: () => [], onChange: () => undefined },
      }),
      clock: life.clock,
      random: { random: random.fraction, uuid: random.uuid },
      log,
    }),
  );
  const parts = [{ name: 'store', stop: () => store.close() }, ...core.components];
  return { core, running: await startComponents(parts, log) };
}

/** Gives an agent's connection to the hub. */
export function acceptAgent(core: CoordinatorCore, node: string, socket: SimulatedSocket): void {
  core.hub.accept({ node, hash: '' }, socket as unknown as WebSocket, transportOf(NO_TRANSPORT));
}

/** Performs a request in a coordinator's process, at the pace of its machine. */
export async function answerOf<T>(life: ProgramLifetime, request: () => Promise<T>): Promise<CallResult<T>> {
  try {
    await life.pause(life.delayMs());
    const value = await request();
    await life.pause(life.delayMs());
    return { kind: 'acknowledged', value };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { kind: 'refused', error };
  }
}
