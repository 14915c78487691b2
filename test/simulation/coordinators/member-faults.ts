/** Faults of simulated coordinators and of their etcd. Each ends by itself, or with `end`. */
import type { MemoryEngine } from '../../harness/replica/memory-engine.js';
import type { SeededRandom } from '../machines/seeded-random.js';
import type { Timeline } from '../machines/timeline.js';
import type { SimulatedMember } from './simulated-member.js';

interface MemberFaultsDeps {
  readonly members: readonly SimulatedMember[];
  readonly engine: MemoryEngine;
  readonly timeline: Timeline;
  readonly random: SeededRandom;
  note(event: string): void;
  /** More faults, by name. Each receives a function that plans its repair. */
  extraFaults?(repairAfter: (ms: number, repair: () => void) => void): Readonly<Record<string, Fault>>;
}

/** More than a process sends in 20 s. */
const MAX_LOST_ANSWERS = 400;

/** `random` decides how long a fault lasts, and what else is open. */
type Fault = (member: SimulatedMember, random: SeededRandom) => void;

export class MemberFaults {
  readonly #deps: MemberFaultsDeps;
  readonly #repairs = new Set<() => void>();
  readonly #faults: Readonly<Record<string, Fault>>;
  #endedAtMs = 0;

  constructor(deps: MemberFaultsDeps) {
    this.#deps = deps;
    const { engine } = deps;
    const seconds = (random: SeededRandom, from: number, to: number) =>
      random.integer(from * 1_000, to * 1_000);
    this.#faults = {
      'kill -9': (member) => member.kill(),
      'power cut': (member) => member.losePower(),
      'freeze of 10 s': ({ process }) => {
        process?.suspend();
        this.#repairAfter(10_000, () => process?.resume());
      },
      'cut off from etcd': ({ faults }, random) => {
        if (faults) faults.isCutOff = true;
        this.#repairAfter(seconds(random, 1, 20), () => faults && Object.assign(faults, { isCutOff: false }));
      },
      'etcd connection hangs': ({ faults }, random) => {
        if (faults) faults.isFrozen = true;
        this.#repairAfter(seconds(random, 1, 12), () => faults && Object.assign(faults, { isFrozen: false }));
      },
      'slow connection': ({ faults }, random) => {
        if (faults) faults.delayMs = random.integer(50, 2_500);
        this.#repairAfter(seconds(random, 2, 15), () => faults && Object.assign(faults, { delayMs: 0 }));
      },
      'answers lost one way': ({ faults }, random) => {
        faults?.nextRequests(...Array(MAX_LOST_ANSWERS).fill('applied'));
        this.#repairAfter(seconds(random, 2, 20), () => {
          for (let fate = 0; fate < MAX_LOST_ANSWERS; fate++) faults?.takeFate();
        });
      },
      'answers lost': ({ faults }, random) => {
        const fates = Array.from({ length: random.integer(1, 4) }, () =>
          random.pick(['applied', 'notApplied', 'answered'] as const),
        );
        faults?.nextRequests(...fates);
      },
      'leases lost': ({ faults }) => faults?.loseLeases(),
      'quorum lost': (_, random) => {
        engine.hasQuorum = false;
        this.#repairAfter(seconds(random, 1, 12), () => Object.assign(engine, { hasQuorum: true }));
      },
      'engine full': (_, random) => {
        engine.isFull = true;
        this.#repairAfter(seconds(random, 1, 10), () => Object.assign(engine, { isFull: false }));
      },
      'disk full': ({ disk }, random) => {
        disk.isFull = true;
        this.#repairAfter(random.integer(5, 5_000), () => Object.assign(disk, { isFull: false }));
      },
      'disk full for one entry': ({ disk }) => {
        disk.failsOnce = true;
      },
      'clock step': ({ wall }, random) => {
        wall.offsetMs += seconds(random, -3_600, 3_600);
      },
      'step down': (member) => void member.stepDown(),
      compaction: ({ serving }, random) => {
        if (!serving) return;
        const { store } = serving;
        store.compact(Math.max(0, store.revision - random.integer(0, 60))).catch(() => undefined);
      },
      // The product never trims what the leader's own database may lose.
      trim: ({ storage, serving }, random) => {
        if (!storage || !serving) return;
        const keep = serving.store.log.durableRecord + 1 - random.integer(0, 20);
        storage.trim(keep, serving.leadership.term).catch(() => undefined);
      },
      ...deps.extraFaults?.((ms, repair) => this.#repairAfter(ms, repair)),
    };
  }

  /** Begins a fault that is drawn. Half of the faults hit the leader. */
  draw(): void {
    const { members, random } = this.#deps;
    const name = random.pick(Object.keys(this.#faults));
    const leader = members.find(({ serving }) => serving);
    const isForLeader =
      random.isTrue(0.5) || name === 'trim' || name === 'compaction' || name === 'step down';
    const member = leader && isForLeader ? leader : random.pick(members);
    this.start(name, member, random);
  }

  start(name: string, member: SimulatedMember, random: SeededRandom): void {
    const fault = this.#faults[name];
    if (!fault) throw new Error(`there is no fault "${name}"`);
    this.#deps.note(`fault: ${name}`);
    this.#endedAtMs = this.#deps.timeline.now;
    fault(member, random);
  }

  /** Since when all faults have ended, ms; undefined = one lasts. */
  get endedSinceMs(): number | undefined {
    return this.#repairs.size > 0 ? undefined : this.#endedAtMs;
  }

  /** Ends all faults. */
  end(): void {
    for (const repair of [...this.#repairs]) repair();
    for (const { disk } of this.#deps.members) disk.failsOnce = false;
  }

  #repairAfter(ms: number, repair: () => void): void {
    const once = () => {
      if (!this.#repairs.delete(once)) return;
      this.#endedAtMs = this.#deps.timeline.now;
      repair();
    };
    this.#repairs.add(once);
    this.#deps.timeline.after(ms, once);
  }
}
