/** The state of all coordinators for the API, the console and the metrics, read from etcd when a client asks. */
import type { Coordinator } from '../../shared/kube/fleet/coordinator-types.js';
import { ApiError } from '../../shared/kube/objects/api-status.js';
import type { Clock } from '../../shared/process/time/clock.js';
import { coordinatorObjects } from '../decisions/cluster/coordinator-objects.js';
import { clockSkewMs } from '../decisions/cluster/member-clock.js';
import type { EngineHealth, LogBounds } from '../store/replica/replicated-log.js';
import type { ClusterView, MemberView } from './cluster-member.js';

/** Clients that ask within this time share one read. */
const MEMBERS_CACHE = { freshMs: 1_000, usableMs: 1_000 };
/** The health calls reach every endpoint of etcd, and a dead one makes them slow. */
const HEALTH_CACHE = { freshMs: 5_000, usableMs: 20_000 };
const DEADLINE_MS = 2_500;

interface CoordinatorFeedDeps {
  view: ClusterView;
  log: { bounds(): Promise<LogBounds> };
  clock: Clock;
}

interface MembersRead {
  members: readonly MemberView[];
  logRecords: number;
}

export class CoordinatorFeed {
  readonly #deps: CoordinatorFeedDeps;
  readonly #members: CachedRead<MembersRead>;
  readonly #engine: CachedRead<readonly EngineHealth[]>;
  /** Of each member: its newest report, when it was seen first, and when it was not there yet. */
  readonly #reports = new Map<string, { clockMs: number; seenAtMs: number; unseenAtMs?: number }>();
  #lastReadAtMs: number | undefined;

  constructor(deps: CoordinatorFeedDeps) {
    this.#deps = deps;
    const { view, clock, log } = deps;
    this.#members = new CachedRead(clock, MEMBERS_CACHE, async () => {
      const [members, { first, next }] = await Promise.all([view.members(), log.bounds()]);
      this.#observeClocks(members);
      return { members, logRecords: next - first };
    });
    this.#engine = new CachedRead(clock, HEALTH_CACHE, () => view.engine());
  }

  /**
   * Returns all coordinators, by name. Resolves within 3 s. While etcd does not answer, it returns the last state that
   * was read, with a problem that names its age. Throws ApiError 503 if none has been read.
   */
  async list(): Promise<readonly Coordinator[]> {
    const { view } = this.#deps;
    const [read, engine] = await Promise.all([
      this.#members.current(DEADLINE_MS),
      this.#engine.current(DEADLINE_MS),
    ]);
    if (!read)
      throw new ApiError('ServiceUnavailable', 'etcd does not answer: the coordinators are not known');
    const { members, logRecords } = read.value;
    return coordinatorObjects({
      self: view.self,
      members: members.map((each) => ({ ...each, clockSkewMs: this.#skewOf(each) })),
      etcd: engine?.value ?? [],
      staleMs: read.failingMs,
      logRecords,
    });
  }

  #observeClocks(members: readonly MemberView[]): void {
    const now = this.#deps.clock.now();
    for (const { member, status } of members) {
      if (!status) continue;
      const known = this.#reports.get(member.id);
      if (known?.clockMs === status.clockMs) continue;
      const { clockMs } = status;
      const before = this.#lastReadAtMs;
      this.#reports.set(member.id, {
        ...{ clockMs, seenAtMs: now },
        ...(known && before !== undefined && { unseenAtMs: before }),
      });
    }
    this.#lastReadAtMs = now;
  }

  #skewOf({ member }: MemberView): number {
    const report = this.#reports.get(member.id);
    return report && member.id !== this.#deps.view.self ? clockSkewMs(report) : 0;
  }
}

interface ReadValue<T> {
  readonly value: T;
  /** Time since the first of the reads that failed or did not answer in time; 0 = the value is current. */
  readonly failingMs: number;
}

interface CacheTimes {
  /** A younger value is returned without a read. */
  readonly freshMs: number;
  /** A younger value is returned while a read is in progress. */
  readonly usableMs: number;
}

/** The last value of a slow read. One read is in progress at a time. */
class CachedRead<T> {
  readonly #clock: Clock;
  readonly #times: CacheTimes;
  readonly #read: () => Promise<T>;
  #last: { value: T; atMs: number } | undefined;
  #reading: Promise<void> | undefined;
  #failingSinceMs: number | undefined;

  constructor(clock: Clock, times: CacheTimes, read: () => Promise<T>) {
    this.#clock = clock;
    this.#times = times;
    this.#read = read;
  }

  /** Resolves after at most `deadlineMs`; undefined if no read has succeeded yet. */
  async current(deadlineMs: number): Promise<ReadValue<T> | undefined> {
    const age = this.#last ? this.#clock.monotonic() - this.#last.atMs : Number.POSITIVE_INFINITY;
    if (age >= this.#times.freshMs) {
      const reading = this.#refresh();
      if (age >= this.#times.usableMs) await this.#within(reading, deadlineMs);
    }
    if (!this.#last) return undefined;
    const now = this.#clock.monotonic();
    const failingMs = this.#failingSinceMs === undefined ? 0 : Math.max(1, now - this.#failingSinceMs);
    return { value: this.#last.value, failingMs };
  }

  #refresh(): Promise<void> {
    this.#reading ??= this.#readOnce(this.#clock.monotonic()).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOnce(beganMs: number): Promise<void> {
    try {
      const value = await this.#read();
      this.#last = { value, atMs: this.#clock.monotonic() };
      this.#failingSinceMs = undefined;
    } catch {
      this.#failingSinceMs ??= beganMs;
    }
  }

  /** Resolves after `deadlineMs` at the latest; the read continues. */
  #within(reading: Promise<void>, deadlineMs: number): Promise<void> {
    const beganMs = this.#clock.monotonic();
    return new Promise((resolve) => {
      const timer = this.#clock.after(deadlineMs, () => {
        this.#failingSinceMs ??= beganMs;
        resolve();
      });
      void reading.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}
