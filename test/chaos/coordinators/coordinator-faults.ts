/** Injects the faults of a round into real coordinators and etcd, and repairs them. */
import { pause, until } from '../../harness/basics/wait-until.js';
import type { ChaosCluster } from './chaos-cluster.js';
import type { CoordinatorFault, Role } from './coordinator-plan.js';
import { fillEtcd } from './etcd-filler.js';
import { type Drop, MACHINES } from './machine-network.js';
import { MemberReplacement } from './member-replacement.js';
import { dropsOf } from './partition-drops.js';

const PATIENCE_MS = 60_000;
const POLL_MS = 100;
/** Interval at which a full disk is filled again. */
const REFILL_MS = 250;

export class CoordinatorFaults {
  /** What happened to a fault that could not be injected as planned. */
  readonly notes: string[] = [];
  /** Reads that were not served without writes. */
  readonly violations: string[] = [];
  readonly #chaos: ChaosCluster;
  readonly #isAlone: boolean;
  readonly #replacement: MemberReplacement;

  /** `isAlone`: the round has no other fault that could explain a refusal. */
  constructor(chaos: ChaosCluster, isAlone: boolean) {
    this.#chaos = chaos;
    this.#isAlone = isAlone;
    this.#replacement = new MemberReplacement(chaos);
  }

  /** Resolves when the fault has ended and what it broke was repaired. The effects on others may continue. */
  async carryOut(fault: CoordinatorFault): Promise<void> {
    switch (fault.kind) {
      case 'kill coordinator':
        return this.#killCoordinator(await this.#target(fault.of), fault.forMs);
      case 'pause coordinator':
        return this.#pauseCoordinator(await this.#target(fault.of), fault.forMs);
      case 'kill etcd':
        return this.#killEtcd([await this.#etcdLeader()], fault.forMs);
      case 'pause etcd':
        return this.#pauseEtcd(await this.#etcdLeader(), fault.forMs);
      case 'kill machine':
        return this.#killMachine(await this.#machineOfBoth(), fault.forMs);
      case 'pause machine': {
        const machine = await this.#machineOfBoth();
        await Promise.all([
          this.#pauseCoordinator(machine, fault.forMs),
          this.#pauseEtcd(machine, fault.forMs),
        ]);
        return;
      }
      case 'lose quorum': {
        const leader = await this.#etcdLeader();
        const reads = this.#expectReads(await this.#target('leader'), fault.forMs);
        await this.#killEtcd([leader, (leader + 1) % MACHINES], fault.forMs);
        return reads;
      }
      case 'cut from etcd':
      case 'cut from hosts':
      case 'cut from coordinators':
      case 'cut machine': {
        const machine = await this.#target('leader');
        return this.#cut(machine, dropsOf(this.#chaos, fault.kind, machine, fault.cut), fault.forMs);
      }
      case 'fill disk':
        return this.#fillDisk(await this.#target(fault.of), fault.forMs);
      case 'wipe member':
        return this.#replacement.replace(await this.#target(fault.of));
      case 'fill etcd':
        return fillEtcd(this.#chaos, async () =>
          this.#expectReads(await this.#target('leader'), fault.forMs),
        );
      case 'step clock':
        return this.#stepClock(await this.#target(fault.of), fault.seconds, fault.forMs);
      case 'step down':
        return this.#note(await this.#replacement.stepDown());
      case 'trim log':
        return this.#note(await this.#replacement.trimWhileAway(await this.#target('standby')));
      case 'restart all':
        return this.#note(await this.#replacement.restartAll(await this.#target('leader')));
    }
  }

  #note(note: string | undefined): void {
    if (note !== undefined) this.notes.push(note);
  }

  /** Index of the member that leads now, or of one that does not. A fleet may be without a leader for some time. */
  async #target(role: Role): Promise<number> {
    let leader: number | undefined;
    await until(
      async () => {
        leader = await this.#chaos.leader().catch(() => undefined);
        return leader !== undefined;
      },
      { timeoutMs: PATIENCE_MS, pollMs: POLL_MS, what: 'a leader as the target of a fault' },
    );
    return role === 'leader' ? (leader ?? 0) : ((leader ?? 0) + 1) % MACHINES;
  }

  async #etcdLeader(): Promise<number> {
    let leader: number | undefined;
    await until(
      async () => {
        leader = await this.#chaos.etcdLeader();
        return leader !== undefined;
      },
      { timeoutMs: PATIENCE_MS, pollMs: POLL_MS, what: 'a leader of etcd as the target of a fault' },
    );
    return leader ?? 0;
  }

  /** Moves the leadership of etcd to the machine of the leading coordinator. */
  async #machineOfBoth(): Promise<number> {
    const { etcd } = this.#chaos.cluster;
    const machine = await this.#target('leader');
    const endpoint = etcd.endpoints[machine] ?? '';
    try {
      const from = etcd.endpoints[await this.#etcdLeader()] ?? '';
      const status = await etcd.ctlInBackground(['endpoint', 'status'], [endpoint]);
      // The line has the id in full; a number of JSON would lose its last digits.
      const id = status.split(',')[1]?.trim() ?? '';
      if (from !== endpoint) await etcd.ctlInBackground(['move-leader', id], [from]);
    } catch {
      this.notes.push('the leadership of etcd could not be moved');
    }
    return machine;
  }

  async #killCoordinator(index: number, forMs: number): Promise<void> {
    await this.#chaos.member(index).kill();
    await pause(forMs);
    this.#replacement.start(index);
  }

  async #pauseCoordinator(index: number, forMs: number): Promise<void> {
    const member = this.#chaos.member(index);
    if (!member.isRunning) return;
    member.pause();
    await pause(forMs);
    member.resume();
  }

  async #killEtcd(indexes: readonly number[], forMs: number): Promise<void> {
    for (const index of indexes) await this.#chaos.cluster.etcd.kill(index);
    await pause(forMs);
    for (const index of indexes) this.#startEtcd(index);
  }

  #startEtcd(index: number): void {
    const { etcd } = this.#chaos.cluster;
    if (!etcd.isRunning(index)) etcd.restart(index);
  }

  async #pauseEtcd(index: number, forMs: number): Promise<void> {
    const { etcd } = this.#chaos.cluster;
    etcd.signal(index, 'SIGSTOP');
    await pause(forMs);
    etcd.signal(index, 'SIGCONT');
  }

  /** No packet leaves the machine any longer, so that no other program sees the end of a connection. */
  async #killMachine(index: number, forMs: number): Promise<void> {
    const restore = this.#chaos.network.drop(index, dropsOf(this.#chaos, 'cut machine', index, 'both'));
    try {
      await Promise.all([this.#chaos.member(index).kill(), this.#chaos.cluster.etcd.kill(index)]);
      await pause(forMs);
    } finally {
      restore();
    }
    this.#startEtcd(index);
    this.#replacement.start(index);
  }

  async #cut(index: number, drops: readonly Drop[], forMs: number): Promise<void> {
    const restore = this.#chaos.network.drop(index, drops);
    try {
      await pause(forMs);
    } finally {
      restore();
    }
  }

  async #fillDisk(index: number, forMs: number): Promise<void> {
    const disk = this.#chaos.disks[index];
    const end = performance.now() + forMs;
    while (performance.now() < end) {
      disk?.fill();
      await pause(REFILL_MS);
    }
    disk?.free();
  }

  /** Waits for `forMs`. In its second half the leader must serve reads, also without writes. */
  async #expectReads(leader: number, forMs: number): Promise<void> {
    await pause(forMs / 2);
    const end = performance.now() + forMs / 2;
    let isServed = false;
    while (performance.now() < end) {
      const answer = await this.#chaos
        .api(leader)
        .send('GET', '/api/v1/namespaces/default')
        .catch(() => undefined);
      isServed ||= answer?.code === 200;
      await pause(POLL_MS);
    }
    if (!isServed && this.#isAlone)
      this.violations.push('the leader served no read while writes were refused');
  }

  async #stepClock(index: number, seconds: number, forMs: number): Promise<void> {
    this.#chaos.clocks[index]?.step(seconds);
    await pause(forMs);
    this.#chaos.clocks[index]?.step(0);
  }
}
