/** Reconciles keys of a queue: the one place for retries, back-off and reading one's own writes. */

import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { backoffMs } from '../../../shared/kube/objects/backoff.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { Informers } from '../../informers/informer.js';
import { type QueueObserver, WorkQueue } from './work-queue.js';

/** client-go's default per-item back-off: 5 ms doubling up to 1000 s. */
const RETRY = { firstMs: 5, maxMs: 1_000_000 };

/** What one reconcile tells the worker about what it did. */
export interface ReconcileContext {
  /** A write's answer: the key stays taken until every informer has seen that revision, also when the reconcile then throws. */
  observeWrite(object: KubeObject): void;
  /** Look at the key again after `delayMs` (at least). */
  requeueAfter(delayMs: number): void;
}

/** Makes the world match the key's object, once. Throwing means: again, later. */
export type Reconcile = (key: string, turn: ReconcileContext) => Promise<void>;

/** Who counts what workers do. */
export interface QueueMeter {
  /** Who counts what goes through the queue of this name. */
  observer(name: string): QueueObserver;
  /** The queue is there, and can be looked at. */
  queueCreated(name: string, queue: Pick<WorkQueue, 'size' | 'unfinished'>): void;
  reconciled(name: string, durationMs: number): void;
  retried(name: string): void;
}

interface WorkerOptions {
  /** Names the controller in log lines. */
  name: string;
  reconcile: Reconcile;
  informers: Pick<Informers, 'waitFor'>;
  clock: Clock;
  log: Logger;
  /** Absent: nobody counts. */
  queueMeter?: QueueMeter;
  /** Keys at once; upstream's DaemonSet controller takes 2. */
  concurrency?: number;
}

/** Runs from its making until `stop()`. */
export class Worker {
  readonly queue: WorkQueue;
  readonly #options: WorkerOptions;
  readonly #log: Logger;
  readonly #failures = new Map<string, number>();
  readonly #slice: TimeSlice;
  readonly #loops: Promise<void>[];

  constructor(options: WorkerOptions) {
    this.queue = new WorkQueue(options.clock, options.queueMeter?.observer(options.name));
    options.queueMeter?.queueCreated(options.name, this.queue);
    this.#options = options;
    this.#log = options.log.child({ component: options.name });
    this.#slice = new TimeSlice(options.clock);
    this.#loops = Array.from({ length: options.concurrency ?? 2 }, () => this.#loop());
  }

  /** Takes no new key; resolves when the reconciles under way have ended. */
  async stop(): Promise<void> {
    this.queue.close();
    await Promise.all(this.#loops);
  }

  async #loop(): Promise<void> {
    for (let key = await this.queue.take(); key !== undefined; key = await this.queue.take()) {
      await this.#process(key);
      this.queue.done(key);
      await this.#slice.yieldIfUsedUp();
    }
  }

  async #process(key: string): Promise<void> {
    let revision = 0;
    const turn: ReconcileContext = {
      observeWrite: (object) => {
        revision = Math.max(revision, Number(object.metadata.resourceVersion ?? 0));
      },
      requeueAfter: (delayMs) => this.queue.addAfter(key, delayMs),
    };
    const { clock, queueMeter, name } = this.#options;
    const began = clock.monotonic();
    try {
      await this.#options.reconcile(key, turn);
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
    // A refusal says all in its words; of anything else the place matters as well.
    const why = error instanceof ApiError ? { reason: error.reason, message: error.message } : { err: error };
    this.#log.warn({ key, ...why, delayMs }, 'reconcile failed, will retry');
    this.queue.addAfter(key, delayMs);
  }
}
