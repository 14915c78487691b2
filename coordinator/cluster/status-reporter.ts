/** Writes this member's status to the cluster's keys while the process runs. */
import type { Logger } from '../../shared/process/output/logger.js';
import { type Clock, every } from '../../shared/process/time/clock.js';
import type { LeaderLog } from '../store/replica/leader-log.js';
import { LOG_FORMAT } from '../store/replica/log-entry.js';
import { type ClusterKeys, LogUnavailable } from '../store/replica/replicated-log.js';
import { type LeaderTrouble, type MemberState, statusKey } from './cluster-member.js';
import { writeStatus } from './cluster-view.js';

const INTERVAL_MS = 5_000;

/** The part of the member that changes with its role. */
export interface StatusSource {
  readonly state: MemberState;
  readonly durableRecord: number;
  /** Makes `durableRecord` current. */
  sync(): Promise<void>;
}

interface StatusReporterDeps {
  keys: ClusterKeys;
  memberId: string;
  version: string;
  source: () => StatusSource;
  /** Returns the names and addresses of this machine. */
  names: () => readonly string[];
  /** Returns why this member cannot connect to the leader. Never rejects. */
  leaderTrouble(): Promise<LeaderTrouble | undefined>;
  clock: Clock;
  log: Logger;
}

export class StatusReporter {
  readonly #deps: StatusReporterDeps;
  #stop: () => void = () => undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: StatusReporterDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stop = every(this.#deps.clock, INTERVAL_MS, () => void this.report());
    void this.report();
  }

  stop(): void {
    this.#stop();
  }

  /**
   * Deletes the status when the process ends. Otherwise the leader regards this member for 15 s as a follower that can
   * take over, and a step-down leaves the fleet without a leader. Without an answer of etcd the status stays that long.
   */
  async withdraw(): Promise<void> {
    const { keys, memberId, log } = this.#deps;
    this.stop();
    // A report in progress would write the status again.
    await this.#writing;
    try {
      await keys.delete(statusKey(memberId));
    } catch (error) {
      log.debug({ err: error }, 'status not withdrawn');
    }
  }

  /** A status that could not be written is written at the next interval. */
  report(): Promise<void> {
    const report = this.#report();
    this.#writing = Promise.all([this.#writing, report]).then(() => undefined);
    return report;
  }

  async #report(): Promise<void> {
    const { keys, memberId, version, source, names, clock, log } = this.#deps;
    const trouble = await this.#deps.leaderTrouble();
    const member = source();
    try {
      await member.sync();
      const { state, durableRecord: appliedRecord } = member;
      const status = {
        ...{ version, logFormat: LOG_FORMAT, appliedRecord, clockMs: clock.now(), state, names: names() },
        ...(trouble && { leaderTrouble: trouble }),
      };
      await writeStatus(keys, memberId, status);
    } catch (error) {
      if (!(error instanceof LogUnavailable)) log.debug({ err: error }, 'status not written');
    }
  }
}

/** The part of a leader. */
export function leaderSource(
  leaderLog: Pick<LeaderLog, 'durableRecord' | 'sync'>,
  term: number,
): StatusSource {
  const state: MemberState = { role: 'leader', term };
  return {
    state,
    get durableRecord() {
      return leaderLog.durableRecord;
    },
    sync: () => leaderLog.sync(),
  };
}
