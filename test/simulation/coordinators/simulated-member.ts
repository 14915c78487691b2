/** A simulated coordinator of several: the product's standby, and its store while it leads. Its service manager starts it again. */

import { Standby } from '../../../coordinator/cluster/standby/standby.js';
import {
  leaderSource,
  StatusReporter,
  type StatusSource,
} from '../../../coordinator/cluster/status-reporter.js';
import { EtcdCluster } from '../../../coordinator/store/replica/etcd/etcd-cluster.js';
import type { LogName } from '../../../coordinator/store/replica/etcd/etcd-keys.js';
import type { Leader, Leadership } from '../../../coordinator/store/replica/replicated-log.js';
import { type Logger, silentLogger } from '../../../shared/process/output/logger.js';
import type { ConnectionFaults } from '../../harness/replica/memory-cluster.js';
import type { MemoryEngine } from '../../harness/replica/memory-engine.js';
import { type CrashPoint, ProgramLifetime, type SpeedFactor } from '../machines/program-lifetime.js';
import type { SeededRandom } from '../machines/seeded-random.js';
import type { Timeline } from '../machines/timeline.js';
import { LeaderStore } from './leader-store.js';
import type { MemberContent, MemberDisk } from './member-disk.js';
import { ProcessTransport } from './process-transport.js';

const RESTART_MS = 1_000;

/** A leader that has appended the first entry of its term. */
export interface Leading {
  readonly process: ProgramLifetime;
  readonly store: LeaderStore;
  readonly leadership: Leadership;
}

/** What a client of a leader uses. */
export interface Serving extends Leading {
  /** Stops it as its service manager does. Resolves when its store is closed. */
  stop(): Promise<void>;
}

interface SimulatedMemberDeps<Served extends Serving> {
  readonly memberId: string;
  readonly name: LogName;
  readonly engine: MemoryEngine;
  readonly timeline: Timeline;
  readonly random: SeededRandom;
  readonly speed: SpeedFactor;
  readonly disk: MemberDisk;
  /** How long the service manager waits before it starts the process again, ms. Absent: 1 s. */
  restartMs?(): number;
  /** Appends of the leader are operations at which it can be killed. */
  readonly appendsTakeTime?: boolean;
  logger?(process: ProgramLifetime): Logger;
  /** Counts and records an event. */
  note(event: string): void;
  /** Returns the database of the leader. Rejects if it cannot be reached. */
  snapshotOf(leader: Leader): Promise<MemberContent>;
  /** Called while it stands by, at each look. */
  onLeader?(leader: Leader | undefined): void;
  /** Starts what a leader serves. */
  serve(leading: Leading): Promise<Served>;
  /** Returns a function that is called when etcd stops answering the leader, and when it answers again. */
  createOnUnproven?(leading: Leading): (isUnproven: boolean) => void;
}

interface Running {
  readonly process: ProgramLifetime;
  readonly transport: ProcessTransport;
  readonly storage: EtcdCluster;
  readonly log: Logger;
}

export class SimulatedMember<Served extends Serving = Serving> {
  readonly wall = { offsetMs: 0 };
  readonly #deps: SimulatedMemberDeps<Served>;
  #boots = 1;
  #starts = 0;
  #isAway = false;
  #running: Running | undefined;
  #serving: Served | undefined;

  constructor(deps: SimulatedMemberDeps<Served>) {
    this.#deps = deps;
  }

  get memberId(): string {
    return this.#deps.memberId;
  }

  get disk(): MemberDisk {
    return this.#deps.disk;
  }

  /** Absent while the process does not run. */
  get process(): ProgramLifetime | undefined {
    return this.#running?.process;
  }

  get faults(): ConnectionFaults | undefined {
    return this.#running?.transport.faults;
  }

  get storage(): EtcdCluster | undefined {
    return this.#running?.storage;
  }

  /** Present while this member leads, or believes so. */
  get serving(): Served | undefined {
    return this.#serving;
  }

  start(): void {
    if (this.#running || this.#isAway) return;
    const { engine, timeline, name, random, speed, logger } = this.#deps;
    this.#starts += 1;
    const process: ProgramLifetime = new ProgramLifetime(
      timeline,
      this.wall,
      random.stream(`process-${this.#starts}`),
      speed,
      () => this.kill(),
    );
    const transport = new ProcessTransport(engine, process);
    const storage = new EtcdCluster(transport, name, process.clock);
    const running = { process, transport, storage, log: logger?.(process) ?? silentLogger };
    this.#running = running;
    this.#run(running).catch((error: unknown) => this.exit(process, String(error)));
  }

  /** kill -9. */
  kill(): void {
    if (!this.#running) return;
    const { process, transport } = this.#running;
    this.#running = undefined;
    this.#serving = undefined;
    process.end();
    transport.close();
    this.#deps.note('killed');
    this.#deps.timeline.after(this.#deps.restartMs?.() ?? RESTART_MS, () => this.start());
  }

  /** The process ends and is not started before `return`. */
  stayAway(): void {
    this.#isAway = true;
    this.kill();
  }

  return(): void {
    this.#isAway = false;
    this.start();
  }

  /** Kills the process at this operation from now on. */
  crashAt(crashAt: CrashPoint): void {
    this.process?.crashAt(crashAt);
  }

  losePower(): void {
    this.kill();
    this.#boots += 1;
    this.disk.losePower();
  }

  /** As `RunningMember.#stepDown`. */
  async stepDown(): Promise<void> {
    const [running, serving] = [this.#running, this.#serving];
    if (!running || !serving) return;
    this.#deps.note('steps down');
    await serving.stop();
    await serving.leadership.resign();
    this.exit(running.process, 'it stepped down');
  }

  /** As process.exit: the service manager starts it again. Without effect if this process has ended. */
  exit(process: ProgramLifetime, why: string): void {
    if (this.#running?.process !== process) return;
    this.#deps.note(`exits: ${why}`);
    this.kill();
  }

  async #run(running: Running): Promise<void> {
    const { memberId, disk, name, note, onLeader, createOnUnproven, serve, appendsTakeTime } = this.#deps;
    const { process, storage, log } = running;
    const standby = new Standby({
      ...{ memberId, bootId: `boot-${this.#boots}`, generation: name.generation, storage, log },
      clock: process.clock,
      acquireLock: () => ({ release: () => undefined }),
      openDatabase: () => disk.open(process),
      takeSnapshot: (leader) => this.#takeSnapshot(process, leader),
      syncKeys: async () => undefined,
      onLeader: async (leader) => onLeader?.(leader),
      isMember: async () => true,
    });
    let source: StatusSource = standby;
    this.#reportStatus(running, () => source);
    const elected = await standby.untilElected();
    if (!elected || process.isOver) return;
    const { leadership, nextRecord } = elected;
    note(`leads in term ${leadership.term}`);
    let isResigning = false;
    const store = new LeaderStore({
      ...{ storage, memberId, nextRecord, term: leadership.term, clock: process.clock, logger: log },
      content: disk.content,
      database: disk.open(process),
      ...(appendsTakeTime && { perform: (append) => process.perform(append) }),
      // As `RunningMember.#handOver`: another member can lead at once.
      onFailed: () => {
        isResigning = true;
        void leadership.resign().then(() => this.exit(process, 'its store failed'));
      },
    });
    const leading = { process, store, leadership };
    const onUnproven = createOnUnproven?.(leading);
    leadership.onState((state) => {
      if (isResigning) return;
      if (state === 'lost') this.exit(process, 'another coordinator leads');
      else onUnproven?.(state === 'unproven');
    });
    source = leaderSource(store.log, leadership.term);
    await store.log.start();
    const serving = await serve(leading);
    if (!process.isOver) this.#serving = serving;
  }

  #reportStatus({ process, storage: keys, log }: Running, source: () => StatusSource): void {
    const { memberId } = this.#deps;
    const { clock } = process;
    new StatusReporter({
      names: () => [],
      leaderTrouble: async () => undefined,
      keys,
      memberId,
      version: 'simulated',
      source,
      clock,
      log,
    }).start();
  }

  async #takeSnapshot(process: ProgramLifetime, leader: Leader): Promise<void> {
    const content = await this.#deps.snapshotOf(leader);
    await process.pause(300);
    this.disk.replace(content);
    this.#deps.note('took a snapshot');
  }
}
