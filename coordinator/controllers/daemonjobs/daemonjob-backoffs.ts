/**
 * How long hosts have waited after their last failed Pod, on the monotonic clock. The end of a Pod is a time of the host's
 * clock. After the coordinator's clock was set back, the end is in the future until the clock has reached it again.
 */
import {
  type DaemonJob,
  type DaemonJobResult,
  runOf,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';

/** Since when the host waits after this many counted Pods. */
interface Wait {
  run: number;
  attempts: number;
  since: number;
}

/** Kept in memory. After a restart a host waits at most for one whole back-off again. */
export class DaemonJobBackoffs {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** By uid of the job and name of the host. */
  readonly #waits = new Map<string, Map<string, Wait>>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  forget(uid: string): void {
    this.#waits.delete(uid);
  }

  /** Returns the ms since this result was first seen. A host that waits for no retry is forgotten. */
  waitedMs(job: DaemonJob, nodeName: string, result: DaemonJobResult | undefined): number {
    const { uid = '' } = job.metadata;
    const waits = this.#waits.get(uid);
    if (result?.phase !== 'Retrying' || result.failures === 0) {
      waits?.delete(nodeName);
      if (waits?.size === 0) this.#waits.delete(uid);
      return 0;
    }
    const { attempts } = result;
    const [run, now] = [runOf(job), this.#clock.monotonic()];
    const known = waits?.get(nodeName);
    if (known?.run === run && known.attempts === attempts) return now - known.since;
    if (waits) waits.set(nodeName, { run, attempts, since: now });
    else this.#waits.set(uid, new Map([[nodeName, { run, attempts, since: now }]]));
    return 0;
  }
}
