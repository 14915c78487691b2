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
}

/** More than a process sends in 20 s. */
const MAX_LOST_ANSWERS = 400;

type Fault = (member: SimulatedMember) => void;

export class MemberFaults {
  readonly #deps: MemberFaultsDeps;
  readonly #repairs = new Set<() => void>();
  readonly #faults: Readonly<Record<string, Fault>>;

  constructor(deps: MemberFaultsDeps) {
    this.#deps = deps;
    const { engine, random } = deps;
    const seconds = (from: number, to: number) => random.integer(from * 1_000, to * 1_000);
    this.#faults = {
      'kill -9': (member) => member.kill(),
      'power cut': (member) => member.losePower(),
      'freeze of 10 s': ({ process }) => {
        process?.suspend();
        this.#repairAfter(10_000, () => process?.resume());
      },
      'cut off from etcd': ({ faults }) => {
        if (faults) faults.isCutOff = true;
        this.#repairAfter(seconds(1, 20), () => faults && Object.assign(faults, { isCutOff: false }));
      },
      'etcd connection hangs': ({ faults }) => {
        if (faults) faults.isFrozen = true;
        this.#repairAfter(seconds(1, 12), () => faults && Object.assign(faults, { isFrozen: false }));
      },
      'slow connection': ({ faults }) => {
        if (faults) faults.delayMs = random.integer(50, 2_500);
        this.#repairAfter(seconds(2, 15), () => faults && Object.assign(faults, { delayMs: 0 }));
      },
      'answers lost one way': ({ faults }) => {
        faults?.nextRequests(...Array(MAX_LOST_ANSWERS).fill('applied'));
        this.#repairAfter(seconds(2, 20), () => {
          for (let fate = 0; fate < MAX_LOST_ANSWERS; fate++) faults?.takeFate();
        });
      },
      'answers lost': ({ faults }) => {
        const fates = Array.from({ length: random.integer(1, 4) }, () =>
          random.pick(['applied', 'notApplied', 'answered'] as const),
        );
        faults?.nextRequests(...fates);
      },
      'leases lost': ({ faults }) => faults?.loseLeases(),
      'quorum lost': () => {
        engine.hasQuorum = false;
        this.#repairAfter(seconds(1, 12), () => Object.assign(engine, { hasQuorum: true }));
      },
      'engine full': () => {
        engine.isFull = true;
        this.#repairAfter(seconds(1, 10), () => Object.assign(engine, { isFull: false }));
      },
      'disk full': ({ disk }) => {
        disk.isFull = true;
        this.#repairAfter(random.integer(5, 5_000), () => Object.assign(disk, { isFull: false }));
      },
      'disk full for one entry': ({ disk }) => {
        disk.failsOnce = true;
      },
      'clock step': ({ wall }) => {
        wall.offsetMs += seconds(-3_600, 3_600);
      },
      'step down': (member) => void member.stepDown(),
      compaction: ({ serving }) => {
        if (!serving) return;
        const { store } = serving;
        store.compact(Math.max(0, store.revision - random.integer(0, 60))).catch(() => undefined);
      },
      trim: ({ storage, serving }) => {
        if (!storage || !serving) return;
        const keep = serving.store.log.position.record - random.integer(0, 20);
        storage.trim(keep, serving.leadership.term).catch(() => undefined);
      },
    };
  }

  /** Begins a fault that is drawn. Half of the faults hit the leader. */
  draw(): void {
    const { members, random, note } = this.#deps;
    const name = random.pick(Object.keys(this.#faults));
    const leader = members.find(({ serving }) => serving);
    const isForLeader =
      random.isTrue(0.5) || name === 'trim' || name === 'compaction' || name === 'step down';
    const member = leader && isForLeader ? leader : random.pick(members);
    note(`fault: ${name}`);
    this.#faults[name]?.(member);
  }

  /** Ends all faults. */
  end(): void {
    for (const repair of [...this.#repairs]) repair();
    for (const { disk } of this.#deps.members) disk.failsOnce = false;
  }

  #repairAfter(ms: number, repair: () => void): void {
    const once = () => {
      if (this.#repairs.delete(once)) repair();
    };
    this.#repairs.add(once);
    this.#deps.timeline.after(ms, once);
  }
}
