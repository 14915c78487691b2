/** A member that does not lead: its database follows the log until it is elected. */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { DataLock } from '../../store/data-files.js';
import { LogFollower } from '../../store/replica/log-follower.js';
import {
  type ClusterStorage,
  type Leader,
  type Leadership,
  LogTrimmed,
} from '../../store/replica/replicated-log.js';
import type { OpenMemberDatabase } from '../../store/sqlite/member-database.js';
import type { MemberState } from '../cluster-member.js';
import { SnapshotAttempts, type SnapshotAttemptsDeps } from '../snapshot/snapshot-attempts.js';
import { PeriodicCheck } from './periodic-check.js';
import { impedimentOf, MemberRemoved } from './standby-impediments.js';
import { TwinWatch } from './twin-watch.js';

/** A wake-up may be missing, so the log is read at least this often. */
const POLL_MS = 500;
/** Pause of the database after an error that time may end, such as a full disk. */
const RETRY_MS = 5_000;

/** A report of this member as a follower would claim that it can take over, before it has opened its database. */
const STARTING: MemberState = { role: 'impeded', reason: 'Starting', message: 'It reads the log.' };

interface StandbyDeps extends Pick<SnapshotAttemptsDeps, 'takeSnapshot'> {
  /** Locks the data directory. Throws StoreError if another process has it. */
  acquireLock(): DataLock;
  /** Returns undefined if there is no database in a log. Throws StoreError. */
  openDatabase(): OpenMemberDatabase | undefined;
  memberId: string;
  /** Of this boot of the machine. */
  bootId: string;
  /** The name of the log. A database of another log is replaced by a snapshot. */
  generation: string;
  storage: ClusterStorage;
  /**
   * Called every 10 s and before a campaign. Resolves when this member has the newest keys of the fleet. Rejects with
   * SealError or FleetKeysError if it cannot use them.
   */
  syncKeys(): Promise<void>;
  /** Called at each look, also without a change. */
  onLeader(leader: Leader | undefined): Promise<void>;
  /** Called every 10 s and before a campaign. False: this member was removed and must not lead. */
  isMember(): Promise<boolean>;
  /** Called when the role or the impediment has changed. */
  onStateChange?(): void;
  clock: Clock;
  log: Logger;
}

/** The end of a standby: this member leads, and its database is closed. */
export interface Elected {
  readonly leadership: Leadership;
  /** Index of the next record in the log. */
  readonly nextRecord: number;
}

export class Standby {
  readonly #deps: StandbyDeps;
  readonly #snapshots: SnapshotAttempts;
  readonly #twins: TwinWatch;
  readonly #membership: PeriodicCheck;
  readonly #keys: PeriodicCheck;
  #lock: DataLock | undefined;
  #database: OpenMemberDatabase | undefined;
  #follower: LogFollower | undefined;
  #state: MemberState = STARTING;
  #isStopped = false;
  /** Why the database is not opened at present, and until when: opening it checks the whole file. */
  #blocked: { error: Error; until: number } | undefined;
  #wake: () => void = () => undefined;
  #lastError = '';

  constructor(deps: StandbyDeps) {
    this.#deps = deps;
    this.#snapshots = new SnapshotAttempts({ ...deps, leader: () => deps.storage.leader() });
    this.#twins = new TwinWatch(deps);
    this.#membership = new PeriodicCheck(deps.clock, async () => {
      if (!(await deps.isMember())) throw new MemberRemoved();
    });
    this.#keys = new PeriodicCheck(deps.clock, () => deps.syncKeys());
  }

  get state(): MemberState {
    return this.#state;
  }

  get durableRecord(): number {
    return this.#follower?.durableRecord ?? 0;
  }

  /** Makes the applied entries durable, so that `durableRecord` is current. */
  async sync(): Promise<void> {
    await this.#follower?.sync();
  }

  /** Resolves when this member is elected, or with undefined after `stop`. Rejects with StoreError if the data directory cannot be used. */
  async untilElected(): Promise<Elected | undefined> {
    this.#lock = this.#deps.acquireLock();
    const end = this.#deps.storage.onChange(() => this.#wake());
    try {
      while (!this.#isStopped) {
        const elected = await this.#step();
        if (elected) return elected;
        await this.#pause();
      }
      return undefined;
    } finally {
      end();
      await this.#closeDatabase();
      this.#lock.release();
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#snapshots.stop();
    this.#wake();
  }

  async #step(): Promise<Elected | undefined> {
    const { storage, memberId, bootId, onLeader } = this.#deps;
    let leader: Leader | undefined;
    try {
      leader = await this.#liveLeader();
      await onLeader(leader);
      // A follower checks both as well: otherwise only a failed takeover would show that it cannot lead.
      await this.#membership.pass();
      const follower = await this.#openFollower();
      await follower.catchUp();
      await this.#keys.pass();
      this.#recover();
      if (leader || this.#isStopped) return undefined;
      await this.#membership.passNow();
      await this.#keys.passNow();
      const leadership = await storage.campaign({ memberId, bootId });
      if (!leadership) return undefined;
      // Nobody else can append now. The last leader may have appended after the read above.
      return await this.#readToEnd(follower, leadership);
    } catch (error) {
      await this.#handle(error, leader);
      return undefined;
    }
  }

  /**
   * An earlier process of this member that led on this machine since its boot has ended, because this one has the lock of
   * its data directory. So its lease need not be waited for.
   */
  async #liveLeader(): Promise<Leader | undefined> {
    const { storage, memberId, bootId, log } = this.#deps;
    const leader = await storage.leader();
    if (leader?.memberId !== memberId || leader.bootId !== bootId) {
      this.#twins.look(leader);
      return leader;
    }
    await storage.evict(leader);
    log.info({ term: leader.term }, 'the leadership of the ended process was released');
    return undefined;
  }

  async #readToEnd(follower: LogFollower, leadership: Leadership): Promise<Elected> {
    try {
      await follower.catchUp();
      await follower.sync();
    } catch (error) {
      await leadership.resign();
      throw error;
    }
    return { leadership, nextRecord: follower.nextRecord };
  }

  async #openFollower(): Promise<LogFollower> {
    if (this.#follower) return this.#follower;
    const { openDatabase, storage, log, generation, clock } = this.#deps;
    if (this.#blocked && clock.monotonic() < this.#blocked.until) throw this.#blocked.error;
    const database = openDatabase();
    if (database?.position.generation !== generation) {
      await database?.close();
      throw new LogTrimmed(database ? 'its database belongs to another log' : 'it has no database yet');
    }
    this.#database = database;
    this.#follower = new LogFollower({ log: storage, position: database.position, database, logger: log });
    return this.#follower;
  }

  async #closeDatabase(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    this.#follower = undefined;
    await database?.close();
  }

  /** Nothing here ends the process: a standby that waits can report what is wrong. */
  async #handle(error: unknown, leader: Leader | undefined): Promise<void> {
    const { log } = this.#deps;
    const impediment = impedimentOf(error);
    if (String(error) !== this.#lastError) {
      if (impediment?.database === 'replace')
        log.info({ why: String(error) }, 'this coordinator needs a snapshot of the leader');
      else log.warn({ err: error }, 'this coordinator cannot follow the log at present');
    }
    this.#lastError = String(error);
    if (!impediment) return;
    const { reason, message, database } = impediment;
    if (database !== 'follow') await this.#closeDatabase();
    this.#setState({ role: 'impeded', reason, message });
    if (database === 'reopen') this.#block(error as Error, RETRY_MS);
    if (database !== 'replace') return;
    // Not opened again before it is replaced.
    this.#block(error as Error, Number.POSITIVE_INFINITY);
    const isOther = leader && leader.memberId !== this.#deps.memberId;
    if (isOther && (await this.#snapshots.tryOnce(leader))) this.#blocked = undefined;
  }

  #block(error: Error, ms: number): void {
    // The same error again: the time has not passed.
    if (error !== this.#blocked?.error) this.#blocked = { error, until: this.#deps.clock.monotonic() + ms };
  }

  #recover(): void {
    if (this.#lastError) this.#deps.log.info('this coordinator follows the log again');
    this.#lastError = '';
    this.#blocked = undefined;
    this.#setState({ role: 'follower' });
  }

  #setState(state: MemberState): void {
    const isNew = nameOf(state) !== nameOf(this.#state);
    this.#state = state;
    if (isNew) this.#deps.onStateChange?.();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.clock.after(POLL_MS, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}

function nameOf(state: MemberState): string {
  return state.role === 'impeded' ? state.reason : state.role;
}
