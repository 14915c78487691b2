/** What an operator does to members: starts, replaces and restarts them, and lets them step down. */

import type { MemberStatus } from '../../../coordinator/cluster/cluster-member.js';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { until } from '../../harness/basics/wait-until.js';
import { type ChaosCluster, COORDINATORS, wipe } from './chaos-cluster.js';
import { MACHINES } from './machine-network.js';

const PATIENCE_MS = 90_000;
const POLL_MS = 200;
/** Statuses are written each 5 s. */
const TRIM_PATIENCE_MS = 20_000;

export class MemberReplacement {
  readonly #chaos: ChaosCluster;
  /** Members without data, which must not be started. */
  readonly #wiped = new Set<number>();

  constructor(chaos: ChaosCluster) {
    this.#chaos = chaos;
  }

  start(index: number): void {
    if (!this.#wiped.has(index)) this.#chaos.member(index).start();
  }

  /** Kills a member, deletes its data, removes it from the fleet, and joins it again with a new token. */
  async replace(index: number): Promise<void> {
    if (this.#wiped.has(index)) return;
    this.#wiped.add(index);
    const member = this.#chaos.member(index);
    const { id } = member;
    await member.kill();
    wipe(member.dataDir);
    // A leader can be removed when another one leads.
    await this.#until('the removal of the wiped member', async () => {
      const name = (await this.#coordinators()).find(({ spec }) => spec.memberId === id)?.metadata.name;
      if (name === undefined) return true;
      const { code } = await this.#chaos.send('DELETE', `${COORDINATORS}/${name}`);
      return code < 300 || code;
    });
    await this.#until('the join of the wiped member', async () => {
      const leader = await this.#chaos.leader();
      if (leader === undefined || leader === index) return `the leader is ${leader}`;
      // A token is spent by a join that fails later, and a failed join may leave files.
      wipe(member.dataDir);
      await this.#chaos.cluster.join(this.#chaos.member(leader), member);
      return true;
    });
    this.#wiped.delete(index);
    member.start();
  }

  /** Resolves when another coordinator leads. Returns why the leader did not step down. */
  async stepDown(): Promise<string | undefined> {
    const leader = (await this.#coordinators()).find(({ status }) => status.role === 'Leader');
    if (!leader) return 'no coordinator reports that it leads, so none steps down';
    const { code, body } = await this.#chaos.send('POST', `${COORDINATORS}/${leader.metadata.name}/stepdown`);
    if (code >= 300) return `step-down was refused: ${(body as { message?: string }).message}`;
    // The answer is sent before the leadership ends. Without this wait, the round could end before the handover.
    await this.#until('another leader after the step-down', async () => {
      const memberId = (await this.#chaos.storage.leader())?.memberId;
      return memberId !== undefined && memberId !== leader.spec.memberId;
    });
    return undefined;
  }

  /**
   * Ends a standby, deletes the records that it lacks when the others have them, and starts it. Returns why the records
   * could not be deleted.
   */
  async trimWhileAway(index: number): Promise<string | undefined> {
    const { storage } = this.#chaos;
    const member = this.#chaos.member(index);
    await member.kill();
    let note: string | undefined;
    try {
      const { next } = await storage.bounds();
      const end = performance.now() + TRIM_PATIENCE_MS;
      await until(async () => performance.now() > end || (await this.#othersHave(next, index)), {
        ...{ timeoutMs: PATIENCE_MS, pollMs: POLL_MS, what: 'the others to have the records' },
      });
      const leader = await storage.leader();
      if (leader && (await this.#othersHave(next, index))) await storage.trim(next + 1, leader.term);
      if ((await storage.bounds()).first <= next) note = 'the log could not be trimmed';
    } catch (error) {
      note = `the log could not be trimmed: ${error}`;
    }
    this.start(index);
    return note;
  }

  /** Restarts the followers, one after another, then the leader after its step-down. */
  async restartAll(leader: number): Promise<string | undefined> {
    const followers = [...Array(MACHINES).keys()].filter((index) => index !== leader);
    for (const index of followers) await this.#restart(index);
    const note = await this.stepDown().catch(String);
    await this.#restart(leader);
    return note;
  }

  async #restart(index: number): Promise<void> {
    const member = this.#chaos.member(index);
    if (this.#wiped.has(index)) return;
    const { id } = member;
    const isUp = async () => {
      const role = (await this.#coordinators()).find(({ spec }) => spec.memberId === id)?.status.role;
      return role === 'Follower' || role === 'Leader';
    };
    await member.stop();
    await this.#until('a stopped coordinator to be reported as down', async () => !(await isUp()));
    this.start(index);
    if (!this.#wiped.has(index)) await this.#until('a restarted coordinator to follow', isUp);
  }

  /** Whether all other members have this record on their disks. */
  async #othersHave(record: number, index: number): Promise<boolean> {
    const values = await this.#chaos.storage.list('status/');
    const others = this.#chaos.cluster.members.filter((_, each) => each !== index);
    return others.every(({ id }) => {
      const found = values.find(({ name }) => name === `status/${id}`);
      return found && (JSON.parse(found.value.toString()) as MemberStatus).appliedRecord >= record;
    });
  }

  async #coordinators(): Promise<readonly Coordinator[]> {
    const { body } = await this.#chaos.send('GET', COORDINATORS);
    return (body as { items?: Coordinator[] }).items ?? [];
  }

  /** An attempt that throws is repeated. */
  #until(what: string, attempt: () => Promise<unknown>): Promise<void> {
    return until(() => attempt().catch(String), { timeoutMs: PATIENCE_MS, pollMs: POLL_MS, what });
  }
}
