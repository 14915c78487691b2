/**
 * What this host did for Pods of DaemonJobs, by Pod uid. The engine and the desired state can lose a Pod that has run: its
 * containers are pruned, or its Node is deleted and the host registers again. Without this record it would run again.
 */
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { JobRunState } from '../decisions/pods/pod-view.js';
import type { DurableFile } from './durable-file.js';

/** Most Pods of jobs whose end the coordinator has not confirmed. */
const MOST = 500;
/** Retry delay after a failed write. */
const RETRY_MS = 10_000;

export class JobRuns {
  readonly #file: DurableFile | undefined;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #runs: Map<string, JobRunState>;
  #written: Promise<void> = Promise.resolve();
  #retry: Timer | undefined;

  private constructor(
    file: DurableFile | undefined,
    clock: Clock,
    log: Logger,
    runs: Iterable<[string, JobRunState]>,
  ) {
    this.#file = file;
    this.#clock = clock;
    this.#log = log;
    this.#runs = new Map(runs);
  }

  /** An unreadable file counts as empty: a host must start its Pods also after its disk was damaged. */
  static async open(file: DurableFile, clock: Clock, log: Logger): Promise<JobRuns> {
    return new JobRuns(file, clock, log, decode(await file.read()));
  }

  /** For simulated hosts. */
  static inMemory(clock: Clock, log: Logger): JobRuns {
    return new JobRuns(undefined, clock, log, []);
  }

  get(podUid: string): JobRunState | undefined {
    return this.#runs.get(podUid);
  }

  /**
   * Resolves when the state survives a power cut. On a disk that takes no writes it is kept in memory, and written when
   * the disk takes writes again.
   */
  set(podUid: string, state: JobRunState): Promise<void> {
    this.#runs.delete(podUid);
    this.#runs.set(podUid, state);
    while (this.#runs.size > MOST) this.#dropOldest();
    return this.#write();
  }

  /** The oldest entry of all is the Pod that runs longest. Without its entry it could run again. */
  #dropOldest(): void {
    const ended = [...this.#runs].find(([, state]) => state !== 'started');
    const [oldest] = ended ?? [...this.#runs.keys()];
    if (oldest !== undefined) this.#runs.delete(oldest);
  }

  /** For a Pod that cannot be assigned again, or whose end is counted, and whose containers are gone. */
  forget(podUid: string): void {
    if (this.#runs.delete(podUid)) void this.#write();
  }

  /** Resolves when all changes so far are on disk. */
  flush(): Promise<void> {
    return this.#written;
  }

  #write(): Promise<void> {
    const text = JSON.stringify(Object.fromEntries(this.#runs));
    this.#written = this.#written
      .then(() => this.#file?.write(text))
      .catch((error: unknown) => {
        this.#log.warn({ err: error }, 'runs of DaemonJobs could not be stored: kept in memory');
        this.#tryAgain();
      });
    return this.#written;
  }

  /** A later write could be days away. Until then a power cut would start a Pod again that has run. */
  #tryAgain(): void {
    this.#retry ??= this.#clock.after(RETRY_MS, () => {
      this.#retry = undefined;
      void this.#write();
    });
  }
}

function decode(text: string | undefined): [string, JobRunState][] {
  try {
    const stored = JSON.parse(text ?? '{}') as Record<string, unknown>;
    return Object.entries(stored).flatMap(([uid, state]): [string, JobRunState][] =>
      state === 'started' || state === 'Succeeded' || state === 'Failed' ? [[uid, state]] : [],
    );
  } catch {
    return [];
  }
}
