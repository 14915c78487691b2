/**
 * Decides when each log is copied. A busy log is read once a second: a notification for each line would cost more than
 * the copy. A quiet log costs nothing, because the kernel reports its next write. A backlog is read for a tenth of the
 * time at most.
 */
import { type FSWatcher, watch } from 'node:fs';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { ContainerLogCopy } from './container-log-copy.js';

const POLL_MS = 1_000;
/** Polls without a line after which the kernel reports the next one. */
const QUIET_POLLS = 10;
/** Read of each log in one round, before the next log is read. */
const ROUND_BYTES = 1024 * 1024;
/** Pause after a round, in units of its duration. */
const PAUSE_FACTOR = 9;
/** Retry delay after an error, such as a full disk. */
const RETRY_MS = 10_000;

export interface LogCopyTask {
  copy: ContainerLogCopy;
  /** The engine writes nothing more. */
  hasExited: boolean;
  quietPolls: number;
  /** Monotonic time before which the copy is not tried again. */
  retryAt: number;
  watcher?: FSWatcher;
}

interface RoundsDeps {
  clock: Clock;
  onError(error: unknown, task: LogCopyTask): void;
  onSuccess(): void;
}

export class LogCopyRounds {
  readonly #deps: RoundsDeps;
  /** Logs that are read in each round. */
  readonly #active = new Set<LogCopyTask>();
  /** The work that runs now, with all that waits for it. */
  #running: Promise<void> | undefined;
  #timer: Timer | undefined;
  /** The round in progress. Between its copies, other work takes turns. */
  #round: Promise<void> | undefined;
  #isStopped = false;

  constructor(deps: RoundsDeps) {
    this.#deps = deps;
  }

  /** Reads the log from the next round on, until it is quiet. */
  activate(task: LogCopyTask): void {
    this.forget(task);
    task.quietPolls = 0;
    this.#active.add(task);
    this.#wake();
  }

  forget(task: LogCopyTask): void {
    task.watcher?.close();
    delete task.watcher;
    this.#active.delete(task);
  }

  /** Copies one log without a pause, for `limitMs` at most. Resolves also after an error. */
  async drain(task: LogCopyTask, limitMs: number): Promise<void> {
    const deadline = this.#deps.clock.monotonic() + limitMs;
    while (await this.exclusively(() => this.#copy(task, true)))
      if (this.#isStopped || this.#deps.clock.monotonic() > deadline) return;
  }

  /** Copies share one buffer, so they run one at a time. */
  async exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = (this.#running ?? Promise.resolve()).then(work);
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    this.#running = settled;
    try {
      return await result;
    } finally {
      if (this.#running === settled) {
        this.#running = undefined;
        this.#wake();
      }
    }
  }

  /** Resolves when no copy runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#round;
    await this.#running;
  }

  /** Starts a round unless one runs or is due. */
  #wake(): void {
    if (this.#round || this.#timer || this.#isStopped || this.#active.size === 0) return;
    this.#schedule(0);
  }

  #schedule(delayMs: number): void {
    this.#timer = this.#deps.clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#round = this.#runRound().finally(() => {
        this.#round = undefined;
        this.#wake();
      });
    });
  }

  async #runRound(): Promise<void> {
    const { clock } = this.#deps;
    const start = clock.monotonic();
    let isBehind = false;
    for (const task of [...this.#active]) {
      if (this.#isStopped) return;
      // A container may be removed between two copies: a copy would write its files again.
      if (!this.#active.has(task) || task.retryAt > clock.monotonic()) continue;
      isBehind = (await this.exclusively(() => this.#copy(task))) || isBehind;
    }
    if (this.#isStopped || this.#active.size === 0 || this.#timer) return;
    const pauseMs = (clock.monotonic() - start) * PAUSE_FACTOR;
    this.#schedule(isBehind ? pauseMs : Math.max(pauseMs, POLL_MS));
  }

  /** Returns true if the log has more. */
  async #copy(task: LogCopyTask, isUrgent = false): Promise<boolean> {
    try {
      const result = await task.copy.copy(ROUND_BYTES, isUrgent);
      if (result !== 'nothing') this.#deps.onSuccess();
      task.quietPolls = result === 'nothing' ? task.quietPolls + 1 : 0;
      if (task.quietPolls >= QUIET_POLLS) await this.#rest(task);
      return result === 'behind';
    } catch (error) {
      this.#deps.onError(error, task);
      task.retryAt = this.#deps.clock.monotonic() + RETRY_MS;
      return false;
    }
  }

  /** Stops reading a quiet log until the engine writes to it. */
  async #rest(task: LogCopyTask): Promise<void> {
    const { copy, hasExited } = task;
    if (hasExited) {
      this.#active.delete(task);
      await copy.stop();
      return;
    }
    if (!this.#watch(task)) return;
    // The engine may have written between the last read and the watch.
    if ((await copy.copy(ROUND_BYTES)) !== 'nothing') {
      this.activate(task);
      return;
    }
    // The watch may have reported a write meanwhile.
    if (!task.watcher) return;
    this.#active.delete(task);
    await copy.rest();
  }

  /** Returns false if the log has to be read once a second: the kernel has no watch left, or the file is missing. */
  #watch(task: LogCopyTask): boolean {
    task.watcher?.close();
    try {
      const onWrite = (): void => {
        if (task.watcher) this.activate(task);
      };
      task.watcher = watch(task.copy.container.logPath, { persistent: false }, onWrite);
      task.watcher.on('error', onWrite);
      return true;
    } catch {
      return false;
    }
  }
}
