/** A simulated coordinator of several: the product's standby, and its store while it leads. Its service manager starts it again. */
import { Standby } from '../../../coordinator/cluster/standby.js';
import { EtcdCluster } from '../../../coordinator/store/replica/etcd/etcd-cluster.js';
import type { LogName } from '../../../coordinator/store/replica/etcd/etcd-keys.js';
import type { Leader, Leadership } from '../../../coordinator/store/replica/replicated-log.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import type { ConnectionFaults } from '../../harness/replica/memory-cluster.js';
import type { MemoryEngine } from '../../harness/replica/memory-engine.js';
import type { Timeline } from '../machines/timeline.js';
import { LeaderStore } from './leader-store.js';
import type { MemberContent, MemberDisk } from './member-disk.js';
import { MemberProcess, ProcessTransport } from './member-process.js';

const RESTART_MS = 1_000;

interface SimulatedMemberDeps {
  readonly memberId: string;
  readonly name: LogName;
  readonly engine: MemoryEngine;
  readonly timeline: Timeline;
  readonly disk: MemberDisk;
  /** Counts and records an event. */
  note(event: string): void;
  /** Returns the database of the leader. Rejects if it cannot be reached. */
  snapshotOf(leader: Leader): Promise<MemberContent>;
}

/** What a client of a leader uses. */
export interface Serving {
  readonly process: MemberProcess;
  readonly store: LeaderStore;
  readonly leadership: Leadership;
}

interface Running {
  readonly process: MemberProcess;
  readonly transport: ProcessTransport;
  readonly storage: EtcdCluster;
}

export class SimulatedMember {
  readonly wall = { offsetMs: 0 };
  readonly #deps: SimulatedMemberDeps;
  #boots = 1;
  #running: Running | undefined;
  #serving: Serving | undefined;

  constructor(deps: SimulatedMemberDeps) {
    this.#deps = deps;
  }

  get memberId(): string {
    return this.#deps.memberId;
  }

  get disk(): MemberDisk {
    return this.#deps.disk;
  }

  /** Absent while the process does not run. */
  get process(): MemberProcess | undefined {
    return this.#running?.process;
  }

  get faults(): ConnectionFaults | undefined {
    return this.#running?.transport.faults;
  }

  get storage(): EtcdCluster | undefined {
    return this.#running?.storage;
  }

  /** Present while this member leads, or believes so. */
  get serving(): Serving | undefined {
    return this.#serving;
  }

  start(): void {
    if (this.#running) return;
    const { engine, timeline, name } = this.#deps;
    const process = new MemberProcess(timeline, this.wall);
    const transport = new ProcessTransport(engine, process);
    const storage = new EtcdCluster(transport, name, process.clock);
    const running = { process, transport, storage };
    this.#running = running;
    this.#run(running).catch((error: unknown) => this.#exit(running, String(error)));
  }

  /** kill -9. */
  kill(): void {
    if (!this.#running) return;
    this.#running.process.end();
    this.#running.transport.close();
    this.#running = undefined;
    this.#serving = undefined;
    this.#deps.note('killed');
    this.#deps.timeline.after(RESTART_MS, () => this.start());
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
    await serving.store.close();
    await serving.leadership.resign();
    this.#exit(running, 'it stepped down');
  }

  async #run(running: Running): Promise<void> {
    const { memberId, disk, name, note } = this.#deps;
    const { process, storage } = running;
    const standby = new Standby({
      ...{ memberId, bootId: `boot-${this.#boots}`, generation: name.generation, storage, log: silentLogger },
      clock: process.clock,
      acquireLock: () => ({ release: () => undefined }),
      openDatabase: () => disk.open(process),
      takeSnapshot: (leader) => this.#takeSnapshot(process, leader),
      syncKeys: async () => undefined,
      onLeader: async () => undefined,
      isMember: async () => true,
    });
    const elected = await standby.untilElected();
    if (!elected || process.isOver) return;
    const { leadership, nextRecord } = elected;
    note(`leads in term ${leadership.term}`);
    leadership.onState((state) => state === 'lost' && this.#exit(running, 'another coordinator leads'));
    const store = new LeaderStore({
      ...{ storage, memberId, nextRecord, term: leadership.term, clock: process.clock },
      content: disk.content,
      database: disk.open(process),
      onFailed: () => this.#exit(running, 'its store failed'),
    });
    await store.log.start();
    if (!process.isOver) this.#serving = { process, store, leadership };
  }

  async #takeSnapshot(process: MemberProcess, leader: Leader): Promise<void> {
    const content = await this.#deps.snapshotOf(leader);
    await process.pause(300);
    this.disk.replace(content);
    this.#deps.note('took a snapshot');
  }

  /** As process.exit: the service manager starts it again. */
  #exit(running: Running, why: string): void {
    if (this.#running !== running) return;
    this.#deps.note(`exits: ${why}`);
    this.kill();
  }
}
