/**
 * What this host did for Pods of DaemonJobs, by Pod uid. The engine and the desired state can lose a Pod that has run: its
 * containers are pruned, or its Node is deleted and the host registers again. Without this record it would run again.
 */
import type { Logger } from '../../shared/process/output/logger.js';
import type { JobRunState } from '../decisions/pods/pod-view.js';
import type { DurableFile } from './durable-file.js';

/** Pods of finished jobs whose end the coordinator never confirmed. The oldest are dropped. */
const MOST = 500;

export class JobRuns {
  readonly #file: DurableFile | undefined;
  readonly #log: Logger;
  readonly #runs: Map<string, JobRunState>;
  #written: Promise<void> = Promise.resolve();

  private constructor(file: DurableFile | undefined, log: Logger, runs: Iterable<[string, JobRunState]>) {
    this.#file = file;
    this.#log = log;
    this.#runs = new Map(runs);
  }

  /** An unreadable file counts as empty: a host must start its Pods also after its disk was damaged. */
  static async open(file: DurableFile, log: Logger): Promise<JobRuns> {
    return new JobRuns(file, log, decode(await file.read()));
  }

  /** For simulated hosts. */
  static inMemory(log: Logger): JobRuns {
    return new JobRuns(undefined, log, []);
  }

  get(podUid: string): JobRunState | undefined {
    return this.#runs.get(podUid);
  }

  /** Resolves when the state survives a power cut. On a disk that takes no writes it is kept in memory. */
  set(podUid: string, state: JobRunState): Promise<void> {
    this.#runs.delete(podUid);
    this.#runs.set(podUid, state);
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= MOST) break;
      this.#runs.delete(oldest);
    }
    return this.#write();
  }

  /** For a Pod whose end is counted and whose containers are gone. */
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
      });
    return this.#written;
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
