/** Deletes log records that no member needs, while this member leads. */
import type { Logger } from '../../shared/process/output/logger.js';
import { type Clock, every } from '../../shared/process/time/clock.js';
import { firstRecordToKeep } from '../decisions/cluster/trim-log.js';
import { type ClusterStorage, LogUnavailable } from '../store/replica/replicated-log.js';
import type { ClusterView } from './cluster-member.js';

const INTERVAL_MS = 30_000;
/** Size of the log that a member may miss without needing a snapshot. */
const WINDOW_BYTES = 64 * 1_048_576;

interface LogTrimmerDeps {
  storage: ClusterStorage;
  term: number;
  view: Pick<ClusterView, 'members' | 'self'>;
  clock: Clock;
  log: Logger;
}

export class LogTrimmer {
  readonly name = 'log trimmer';
  readonly #deps: LogTrimmerDeps;
  readonly #sizes = new Map<number, number>();
  #stop: () => void = () => undefined;

  constructor(deps: LogTrimmerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stop = every(this.#deps.clock, INTERVAL_MS, () => void this.trim());
  }

  stop(): void {
    this.#stop();
  }

  /** A record was appended. */
  add(index: number, bytes: number): void {
    this.#sizes.set(index, bytes);
  }

  /** Tries again at the next interval if the engine does not answer. */
  async trim(): Promise<void> {
    const { storage, term, view, log } = this.#deps;
    try {
      const members = await view.members();
      const { first, next } = await storage.bounds();
      const durableRecords = members.map(({ status }) =>
        status?.state.role === 'impeded' ? undefined : status?.appliedRecord,
      );
      const leader = members.find(({ member }) => member.id === view.self);
      const keep = firstRecordToKeep({
        first,
        next,
        durableRecords,
        leaderRecord: leader?.status?.appliedRecord,
        sizes: this.#sizes,
        windowBytes: WINDOW_BYTES,
      });
      if (keep > first) await storage.trim(keep, term);
      for (const index of this.#sizes.keys()) {
        if (index >= keep) break;
        this.#sizes.delete(index);
      }
    } catch (error) {
      if (!(error instanceof LogUnavailable))
        log.warn({ err: error }, 'the replicated log could not be trimmed');
    }
  }
}
