/** The simulated machine of the coordinator: its real core over a simulated disk. */
import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { type CoordinatorCore, createCoordinatorCore } from '../../../coordinator/coordinator-core.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import {
  type RunningComponents,
  startComponents,
} from '../../../shared/process/service/program-lifecycle.js';
import { NO_AUTHORITY } from '../../harness/api/test-authority.js';
import type { Chronicle } from '../runs/chronicle.js';
import { type CrashPoint, ProgramLifetime, type SpeedFactor, type WallClock } from './program-lifetime.js';
import type { SeededRandom } from './seeded-random.js';
import type { SimulatedSocket } from './simulated-network.js';
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

/** The result of a request as its client sees it. */
export type CallResult<T> =
  | { kind: 'acknowledged'; value: T }
  | { kind: 'refused'; error: ApiError }
  /** No response: the request may or may not have succeeded. */
  | { kind: 'unanswered' }
  | { kind: 'unreachable' };

interface Serving {
  life: ProgramLifetime;
  core: CoordinatorCore;
  running: RunningComponents;
  sinceMs: number;
}

export class SimulatedCoordinator {
  readonly wall: WallClock = { offsetMs: 0 };
  /** All offsets that its clock was seen to have. */
  readonly offsetsMs = new Set([0]);
  readonly #parts: CoordinatorDeps;
  #lives = 0;
  #life: ProgramLifetime | undefined;
  #serving: Serving | undefined;

  constructor(parts: CoordinatorDeps) {
    this.#parts = parts;
  }

  get isUp(): boolean {
    return this.#life !== undefined && !this.#life.isOver;
  }

  /** The life that takes connections now. */
  get listening(): ProgramLifetime | undefined {
    return this.#serving?.life;
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

  accept(node: string, socket: SimulatedSocket): void {
    this.#serving?.core.hub.accept({ node, hash: '' }, socket as unknown as WebSocket, NO_TRANSPORT);
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
    return Promise.race([ended, this.#answer(life, () => request(core.registry))]);
  }

  async #answer<T>(life: ProgramLifetime, request: () => Promise<T>): Promise<CallResult<T>> {
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

  #say(what: string): void {
    this.#parts.chronicle.record('coordinator', what);
  }

  /** As coordinator/main.ts does it. */
  async #run(life: ProgramLifetime, chance: SeededRandom): Promise<void> {
    const { disk, chronicle, wrapCore = (same) => same } = this.#parts;
    const log = chronicle.logger('coordinator', () => life.isOver);
    const store = openSimulatedStore(disk, life, () => this.crash());
    const core = wrapCore(
      createCoordinatorCore({
        store,
        objectMacKey: Buffer.alloc(32, 7),
        authority: NO_AUTHORITY,
        nodeMonitorGraceMs: GRACE_MS,
        clock: life.clock,
        random: { random: chance.fraction, uuid: chance.uuid },
        log,
      }),
    );
    const parts = [{ name: 'store', stop: () => store.close() }, ...core.components];
    const running = await startComponents(parts, log);
    if (!life.isOver) this.#serving = { life, core, running, sinceMs: this.#parts.timeline.now };
  }
}
