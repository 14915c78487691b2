/**
 * Several coordinators with agents: each one is the product's standby and, while it leads, the product's whole core. All
 * of them share a simulated etcd. Each has a clock, a disk and a cable of its own.
 */
import { RivalWatch } from '../../../coordinator/cluster/rival-watch.js';
import type { CoordinatorCore } from '../../../coordinator/coordinator-core.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { PackedCommit } from '../../../coordinator/store/log/packed-commit.js';
import { MemoryEngine } from '../../harness/replica/memory-engine.js';
import type { CrashPoint, SpeedFactor, WallClock } from '../machines/program-lifetime.js';
import type { SeededRandom } from '../machines/seeded-random.js';
import {
  answerOf,
  type CallResult,
  type Coordinators,
  type Entrance,
  startSimulatedCore,
} from '../machines/simulated-coordinator.js';
import type { Cable } from '../machines/simulated-network.js';
import { SimulatedProcess } from '../machines/simulated-process.js';
import type { Timeline } from '../machines/timeline.js';
import type { Chronicle } from '../runs/chronicle.js';
import { type FleetFault, fleetFaults } from './fleet-faults.js';
import { FleetRoutes, type Machine, type ServingMember, termOf } from './fleet-routes.js';
import { LogTap } from './log-tap.js';
import { type MemberContent, MemberDisk } from './member-disk.js';
import { MemberFaults } from './member-faults.js';
import { type Leading, SimulatedMember } from './simulated-member.js';

const GENERATION = 'first';
/** A client gives up a request after this time. */
const CLIENT_TIMEOUT_MS = 30_000;
/** How long a machine may need to start its coordinator again after a fault. */
const RESTARTS_MS = [1_000, 1_000, 8_000, 40_000];

interface FleetDeps {
  readonly memberCount: number;
  readonly clusterUID: string;
  readonly epoch: string;
  readonly timeline: Timeline;
  readonly random: SeededRandom;
  readonly speed: SpeedFactor;
  readonly chronicle: Chronicle;
  readonly wrapCore?: ((core: CoordinatorCore) => CoordinatorCore) | undefined;
  newCable(): Cable;
  /** How long the service manager waits after `crashAt` and `stop` before it starts a process again, ms. */
  restartMs(): number;
  /** Counts an event. */
  note(event: string): void;
  /** Receives each commit when etcd stores it. */
  onCommit(commit: PackedCommit): void;
  /** Another term began, whose leader has read the log to its end. */
  onTerm(term: number): void;
  /** A rule is broken. */
  fail(rule: string): void;
}

export class CoordinatorFleet implements Coordinators {
  readonly offsetsMs = new Set([0]);
  readonly #deps: FleetDeps;
  readonly #machines: readonly Machine[];
  readonly #routes: FleetRoutes;
  readonly #faults: MemberFaults;
  readonly #outside: SimulatedProcess;
  readonly #tap: LogTap;
  /** The last one that served. */
  #last: Machine;
  #changedAtMs = 0;
  #requests = 0;
  #restartMs: number | undefined;

  constructor(deps: FleetDeps) {
    const { timeline, clusterUID, random, memberCount } = deps;
    this.#deps = deps;
    this.#outside = new SimulatedProcess(timeline, { offsetMs: 0 });
    const engine = new MemoryEngine(this.#outside.clock);
    this.#tap = new LogTap({ ...deps, engine, name: { clusterUID, generation: GENERATION } });
    this.#machines = Array.from({ length: memberCount }, (_, index) =>
      this.#createMachine(`coordinator-${index + 1}`, engine),
    );
    this.#routes = new FleetRoutes(this.#machines, (memberId, event) => {
      deps.note(`coordinator ${event.replace(/\d+/g, '#')}`);
      deps.chronicle.record(memberId, event);
    });
    this.#last = this.#machines[0] as Machine;
    const members = this.#machines.map(({ member }) => member);
    this.#faults = new MemberFaults({
      ...{ members, engine, timeline, random: random.stream('faults') },
      note: (event) => this.#note('etcd', event),
      extraFaults: (repairAfter) =>
        fleetFaults({
          timeline,
          repairAfter,
          cableOf: (id) => this.#routes.machine(id).cable,
          leader: () => this.leader?.member,
        }),
    });
  }

  get addresses(): readonly string[] {
    return this.#machines.map(({ address }) => address);
  }

  /** The member that serves in the latest term. */
  get leader(): Machine | undefined {
    const serving = this.#machines.filter(({ member }) => member.serving);
    return serving.toSorted((one, other) => termOf(other) - termOf(one))[0];
  }

  get wall(): WallClock {
    return (this.leader ?? this.#last).member.wall;
  }

  /** A fault at one of them may delay agents. */
  get listeningSinceMs(): number | undefined {
    const { endedSinceMs } = this.#faults;
    const isWhole = this.#machines.every(({ member, cable }) => member.process && !cable.isCut);
    const serving = this.#machines.filter(({ member }) => member.serving);
    if (endedSinceMs === undefined || !isWhole || serving.length !== 1) return undefined;
    return Math.max(endedSinceMs, this.#changedAtMs);
  }

  start(): void {
    for (const { member } of this.#machines) member.start();
  }

  crash(): void {
    this.leader?.member.kill();
  }

  stop(): void {
    this.#restartMs = undefined;
    void this.leader?.member.stepDown();
  }

  crashAt(crashAt: CrashPoint): void {
    this.#restartMs = undefined;
    this.leader?.member.crashAt(crashAt);
  }

  /** Starts a fault of `FLEET_FAULTS`. */
  fail(fault: FleetFault, who: 'leader' | 'follower', random: SeededRandom): void {
    const { leader } = this;
    this.#restartMs = random.pick(RESTARTS_MS);
    const others = this.#machines.filter((machine) => machine !== leader);
    const machine = who === 'leader' && leader ? leader : random.pick(others);
    this.#faults.start(fault, machine.member, random);
    for (const { member } of this.#machines) this.offsetsMs.add(member.wall.offsetMs);
  }

  endFaults(): void {
    this.#faults.end();
    for (const { member, cable } of this.#machines) {
      cable.reconnect(this.#deps.timeline.now);
      member.start();
    }
  }

  confirmRestore(): void {
    throw new Error('histories of several coordinators restore no backup');
  }

  async call<T>(request: (registry: Registry) => Promise<T>): Promise<CallResult<T>> {
    this.#requests += 1;
    const random = this.#deps.random.stream(`request-${this.#requests}`);
    const target = this.#routes.route(random.pick(this.#machines));
    if (typeof target === 'string') return { kind: 'unreachable' };
    const { process, core } = target.member.serving as ServingMember;
    const unanswered: CallResult<T> = { kind: 'unanswered' };
    const ended = new Promise<CallResult<T>>((resolve) => {
      process.signal.addEventListener('abort', () => resolve(unanswered));
      this.#outside.clock.after(CLIENT_TIMEOUT_MS, () => resolve(unanswered));
    });
    return Promise.race([ended, answerOf(process, () => request(core.registry))]);
  }

  entrance(address: string): Entrance {
    return this.#routes.entrance(address);
  }

  /** What is not as it must be when all faults have ended. Empty: nothing. */
  problems(truth: {
    readonly values: ReadonlyMap<string, { revision: number; value: Buffer }>;
    readonly revision: number;
  }): string[] {
    const { lastRecord } = this.#tap;
    const leaders = this.#machines.filter(({ member }) => member.serving).length;
    const behind = this.#machines.filter(({ member: { disk } }) => {
      const { position, revision, values } = disk.content;
      const isEqual = [...truth.values].every(([key, stored]) => {
        const own = values.get(key);
        return own?.revision === stored.revision && own.value.equals(stored.value);
      });
      return (
        position.record !== lastRecord ||
        revision !== truth.revision ||
        !isEqual ||
        values.size !== truth.values.size
      );
    });
    return [
      ...(leaders === 1 ? [] : [`${leaders} coordinators lead`]),
      ...behind.map(({ member }) => `the database of ${member.memberId} differs from the log`),
    ];
  }

  #createMachine(memberId: string, engine: MemoryEngine): Machine {
    const { timeline, random, speed, clusterUID, chronicle } = this.#deps;
    const restartMs = () => this.#restartMs ?? this.#deps.restartMs();
    const disk = new MemberDisk(memberId, GENERATION, random.stream(`${memberId}/disk`), () => undefined);
    const member: SimulatedMember<ServingMember> = new SimulatedMember<ServingMember>({
      ...{ memberId, name: { clusterUID, generation: GENERATION }, engine, timeline, speed, disk, restartMs },
      random: random.stream(memberId),
      appendsTakeTime: true,
      logger: (process) => chronicle.logger(memberId, () => process.isOver),
      note: (event) => this.#note(memberId, event),
      snapshotOf: (leader) => this.#snapshotOf(machine, leader.memberId),
      onLeader: (leader) => this.#routes.forward(machine, leader),
      serve: (leading) => this.#serve(machine, leading),
      createOnUnproven: (leading) => this.#watchRivals(machine, leading),
    });
    const machine: Machine = {
      ...{ member, address: `https://${memberId}:7443`, cable: this.#deps.newCable() },
      ...{ forwardsTo: undefined, spliced: new Set() },
    };
    return machine;
  }

  async #serve(machine: Machine, leading: Leading): Promise<ServingMember> {
    const { clusterUID, epoch, chronicle, random, wrapCore } = this.#deps;
    const { memberId } = machine.member;
    const { process, leadership, store } = leading;
    const log = chronicle.logger(memberId, () => process.isOver);
    const others = this.addresses.filter((address) => address !== machine.address);
    const { core, running } = await startSimulatedCore({
      ...{ store: store.asStore(clusterUID, epoch), life: process, log, wrapCore },
      random: random.stream(`core-${leadership.term}`),
      coordinators: [machine.address, ...others],
    });
    if (!process.isOver) {
      this.#last = machine;
      this.#note(memberId, `serves in term ${leadership.term}`);
    }
    const stop = async () => {
      await core.hub.stop();
      await running.stop();
    };
    return { ...leading, core, stop };
  }

  /** As `RunningMember.#onLeadership`. */
  #watchRivals(
    machine: Machine,
    { process, leadership }: Omit<Leading, 'store'>,
  ): (isUnproven: boolean) => void {
    const { address, member } = machine;
    const rival = new RivalWatch({
      ...{ term: leadership.term, own: address, addresses: { list: () => this.addresses } },
      termAt: (server) => this.#routes.termAt(server, process, machine),
      clock: process.clock,
    });
    return (isUnproven) => {
      if (isUnproven)
        rival.start(() => member.exit(process, 'another coordinator leads, and etcd does not answer'));
      else rival.stop();
    };
  }

  /** As the leader's backup, which is taken after all entries that it has appended. */
  async #snapshotOf(machine: Machine, leaderId: string): Promise<MemberContent> {
    const leader = this.#routes.machine(leaderId);
    await this.#outside.pause(100);
    const serving = leader.member.serving;
    if (!serving || serving.process.isSuspended || leader.cable.isCut || machine.cable.isCut)
      throw new Error('the leader does not answer');
    return leader.member.disk.content;
  }

  #note(who: string, event: string): void {
    this.#changedAtMs = this.#deps.timeline.now;
    this.#deps.chronicle.record(who, event);
    this.#deps.note(`coordinator ${event.replace(/\d+/g, '#')}`);
  }
}
