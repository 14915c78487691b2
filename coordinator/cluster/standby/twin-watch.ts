/** Reports that a data directory was copied: two processes with one member id would each take the other for itself. */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { LEASE_SECONDS, type Leader } from '../../store/replica/replicated-log.js';

/** A process of this member before a reboot does not lead longer than this. */
const REPORT_MS = 3 * LEASE_SECONDS * 1_000;

interface TwinWatchDeps {
  memberId: string;
  clock: Clock;
  log: Logger;
}

export class TwinWatch {
  readonly #deps: TwinWatchDeps;
  /** Since when another process leads as this member (monotonic ms). */
  #since: number | undefined;
  #isReported = false;

  constructor(deps: TwinWatchDeps) {
    this.#deps = deps;
  }

  /** Receives the leader at each look of a standby, which does not lead itself. */
  look(leader: Leader | undefined): void {
    const { memberId, clock, log } = this.#deps;
    this.#since = leader?.memberId === memberId ? (this.#since ?? clock.monotonic()) : undefined;
    if (this.#since === undefined || clock.monotonic() - this.#since < REPORT_MS || this.#isReported) return;
    this.#isReported = true;
    log.error(
      'another process leads as this coordinator: one data directory is a copy. Stop one, and join with an empty directory',
    );
  }
}
