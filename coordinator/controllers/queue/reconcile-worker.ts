/** Reconciles the keys of a queue. Handles retries, back-off, and reading one's own writes for all controllers. */

import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { backoffMs } from '../../../shared/kube/objects/backoff.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { Informers } from '../../informers/informer.js';
import { type QueueObserver, WorkQueue } from './work-queue.js';

/** client-go's default back-off per item: 5 ms, doubled up to 1000 s. */
const RETRY = { firstMs: 5, maxMs: 1_000_000 };

/** Passed to a reconcile to report its writes and to requeue its key. */
export interface ReconcileContext {
  /** Reports a write, also before a throw. The key stays in process until all informers have seen it. */
  observeWrite(object: KubeObject): void;
  /** Queues the key again after at least `delayMs`. */
  requeueAfter(delayMs: number): void;
}

export type Reconcile = (key: string, context: ReconcileContext) => Promise<void>;

export interface QueueMeter {
  /** Returns the observer for the queue with this name. */
  observer(name: string): QueueObserver;
  queueCreated(name: string, queue: Pick<WorkQueue, 'size' | 'unfinished'>): void;
  reconciled(name: string, durationMs: number): void;
  retried(name: string): void;
}

interface WorkerOptions {
  name: string;
  reconcile: Reconcile;
  informers: Pick<Informers, 'waitFor'>;
  clock: Clock;
  log: Logger;
  /** Absent: no metrics. */
  queueMeter?: QueueMeter;
  /** Number of concurrent keys. Upstream's DaemonSet controller uses 2. */
  concurrency?: number;
  /** Waiting keys with a lower rank are taken first. Absent: all ranks are equal. */
  rankOf?: (key: string) => number;
}

/** Runs from its construction until `stop()`. */
export class Worker {
  readonly queue: WorkQueue;
  readonly #options: WorkerOptions;
  readonly #log: Logger;
  readonly #failures = new Map<string, number>();
  readonly #slice: TimeSlice;
  readonly #loops: Promise<void>[];

  constructor(options: WorkerOptions) {
    this.queue = new WorkQueue(options.clock, options.queueMeter?.observer(options.name), options.rankOf);
    options.queueMeter?.queueCreated(options.name, this.queue);
    this.#options = options;
    this.#log = options.log.child({ component: options.name });
    this.#slice = new TimeSlice(options.clock);
    this.#loops = Array.from({ length: options.concurrency ?? 2 }, () => this.#loop());
  }

  /** Takes no new keys. Resolves when the current reconciles have ended. */
  async stop(): Promise<void> {
    this.queue.close();
    await Promise.all(this.#loops);
  }

  async #loop(): Promise<void> {
    for (let key = await this.queue.take(); key !== undefined; key = await this.queue.take()) {
      await this.#process(key);
      this.queue.done(key);
      const pause = this.#slice.yieldIfUsedUp();
      if (pause) await pause;
    }
  }

  async #process(key: string): Promise<void> {
    let revision = 0;
    const context: ReconcileContext = {
      observeWrite: (object) => {
        revision = Math.max(revision, Number(object.metadata.resourceVersion ?? 0));
      },
      requeueAfter: (delayMs) => this.queue.addAfter(key, delayMs),
    };
    const { clock, queueMeter, name } = this.#options;
    const began = clock.monotonic();
    try {
      await this.#options.reconcile(key, context);
      this.#failures.delete(key);
    } catch (error) {
      this.#retry(key, error);
      queueMeter?.retried(name);
    }
    queueMeter?.reconciled(name, clock.monotonic() - began);
    if (revision > 0) await this.#options.informers.waitFor(revision);
  }

  #retry(key: string, error: unknown): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const delayMs = backoffMs(failures, RETRY);
    // An API refusal is clear from its message. Other errors need their stack.
    const why = error instanceof ApiError ? { reason: error.reason, message: error.message } : { err: error };
    this.#log.warn({ key, ...why, delayMs }, 'reconcile failed, will retry');
    this.queue.addAfter(key, delayMs);
  }
}
