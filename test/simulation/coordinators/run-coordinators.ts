/** One history of several coordinators over a simulated etcd: clients and faults, then the repair of all faults. */
import type { Leader } from '../../../coordinator/store/replica/replicated-log.js';
import { MemoryEngine } from '../../harness/replica/memory-engine.js';
import { SeededRandom } from '../machines/seeded-random.js';
import { SimulatedProcess } from '../machines/simulated-process.js';
import { Timeline } from '../machines/timeline.js';
import { LogAudit } from './log-audit.js';
import { runWatcher, runWriter } from './member-clients.js';
import { type MemberContent, MemberDisk } from './member-disk.js';
import { MemberFaults } from './member-faults.js';
import { SimulatedMember } from './simulated-member.js';

const NAME = { clusterUID: 'fleet', generation: 'first' };
const FAULTS = 40;
/** All members have the whole log within this time after the last fault: a retry after a full disk takes 5 s. */
const SETTLED_MS = 60_000;

export interface CoordinatorsOutcome {
  /** The rule that the history broke. Absent: none. */
  readonly violation: string | undefined;
  /** Counts of events. */
  readonly counts: ReadonlyMap<string, number>;
  /** Everything that happened, in order. */
  readonly lines: readonly string[];
  readonly simulatedMs: number;
}

export async function runCoordinators(seed: string, memberCount = 3): Promise<CoordinatorsOutcome> {
  const leaked: string[] = [];
  const onRejection = (reason: unknown) =>
    void leaked.push(String(reason instanceof Error ? reason.stack : reason));
  process.on('unhandledRejection', onRejection);
  try {
    const run = new Run(seed, memberCount);
    await run.play();
    const violation = run.audit.violation ?? (leaked[0] && `an unhandled rejection: ${leaked[0]}`);
    return { violation, counts: run.counts, lines: run.lines, simulatedMs: run.simulatedMs };
  } finally {
    process.off('unhandledRejection', onRejection);
  }
}

class Run {
  readonly counts = new Map<string, number>();
  readonly lines: string[] = [];
  readonly audit: LogAudit;
  readonly #timeline = new Timeline();
  readonly #random: SeededRandom;
  readonly #members: readonly SimulatedMember[];
  readonly #faults: MemberFaults;
  readonly #clients: SimulatedProcess;
  #isOver = false;

  constructor(seed: string, memberCount: number) {
    const timeline = this.#timeline;
    this.#random = new SeededRandom(seed);
    this.#clients = new SimulatedProcess(timeline, { offsetMs: 0 });
    const engine = new MemoryEngine(this.#clients.clock);
    this.audit = new LogAudit(engine, NAME);
    this.#members = Array.from({ length: memberCount }, (_, index) =>
      this.#createMember(`member-${index + 1}`, engine),
    );
    const random = this.#random.stream('faults');
    const note = (event: string) => this.#note('world', event);
    this.#faults = new MemberFaults({ members: this.#members, engine, timeline, random, note });
  }

  get simulatedMs(): number {
    return this.#timeline.now;
  }

  async play(): Promise<void> {
    for (const member of this.#members) member.start();
    const writers = ['w1', 'w2', 'w3', 'w4'].map((name) => runWriter(name, this.#client(name)));
    const watchers = ['r1', 'r2'].map((name) => runWatcher(this.#client(name)));
    for (let fault = 0; fault < FAULTS; fault++) {
      await this.#pass(this.#random.integer(100, 5_000));
      if (this.audit.violation) return;
      this.#faults.draw();
    }
    await this.#pass(20_000);
    this.#faults.end();
    await this.#pass(SETTLED_MS / 2);
    this.#isOver = true;
    await this.#pass(SETTLED_MS / 2);
    if (this.audit.violation) return;
    const refusals = await Promise.all(writers);
    await Promise.all(watchers);
    for (const { write, why } of refusals.flat()) this.audit.refused(write, why);
    this.#checkSettled();
  }

  #checkSettled(): void {
    const { lastRecord, revision } = this.audit;
    if (this.#members.filter(({ serving }) => serving).length !== 1)
      this.audit.fail('no rest when faults have ended: not exactly one coordinator leads');
    for (const { memberId, disk } of this.#members) {
      const { position, revision: stored } = disk.content;
      if (position.record !== lastRecord || stored !== revision)
        this.audit.fail(
          `no rest when faults have ended: ${memberId} has record ${position.record} of ${lastRecord}`,
        );
    }
  }

  #createMember(memberId: string, engine: MemoryEngine): SimulatedMember {
    const disk = new MemberDisk(memberId, NAME.generation, this.#random.stream(memberId), (id, content) =>
      this.audit.applied(id, content),
    );
    const note = (event: string) => this.#note(memberId, event);
    return new SimulatedMember({
      ...{ memberId, name: NAME, engine, timeline: this.#timeline, disk, note, speed: { scale: 0 } },
      random: this.#random.stream(`${memberId}/processes`),
      snapshotOf: (leader) => this.#snapshotOf(leader),
      serve: async (leading) => ({ ...leading, stop: () => leading.store.close() }),
    });
  }

  /** As the leader's backup, which is taken after all entries that it has appended. */
  async #snapshotOf({ memberId }: Leader): Promise<MemberContent> {
    const leader = this.#members.find((member) => member.memberId === memberId);
    if (!leader?.serving) throw new Error('the leader does not answer');
    const { process } = leader.serving;
    await Promise.race([
      new Promise<void>((resolve) => process.deliver(resolve)),
      this.#clients.pause(2_000).then(() => Promise.reject(new Error('no answer in time'))),
    ]);
    return leader.disk.content;
  }

  #client(name: string) {
    return {
      members: this.#members,
      process: this.#clients,
      random: this.#random.stream(name),
      audit: this.audit,
      isOver: () => this.#isOver,
      note: (event: string) => this.#note(name, event),
    };
  }

  async #pass(ms: number): Promise<void> {
    await this.#timeline.until(this.#timeline.now + ms, () => this.audit.violation !== undefined);
    if (this.#timeline.isBusy) this.audit.fail('a program works without end and without a pause');
  }

  #note(who: string, event: string): void {
    const kind = event.replace(/\d+/g, '#');
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    this.lines.push(`${Math.round(this.#timeline.now)} ${who}: ${event}`);
  }
}
