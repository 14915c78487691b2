/** Writes Events of controllers in batches. Callers never wait, and a failed write is only logged. */

import { ApiError, isNotFound } from '../../../shared/kube/objects/api-status.js';
import type { KubeEvent, ObjectReference } from '../../../shared/kube/objects/event-types.js';
import { type KubeObject, refText } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { eventKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { EventCorrelator } from './event-correlator.js';

interface EventRecorderDeps {
  registry: Pick<Registry, 'createInternal' | 'modify'>;
  clock: Clock;
  log: Logger;
}

/** Limit of unwritten Events, about 50 MB. Further Events are dropped, as in upstream's full channel. */
const MAX_PENDING = 50_000;
/** Events per batch. A batch shares a commit of the store. */
const BATCH = 250;
/** After a batch of this size, the recorder pauses. Other writes go first, and the next Events share a commit. */
const LARGE_BATCH = 16;
const PAUSE_MS = 50;
const RETRY_MS = 1_000;

/** One recorder for all controllers. Events of cluster-scoped objects are stored in the namespace `default`. */
export class EventRecorder {
  readonly #deps: EventRecorderDeps;
  readonly #correlator = new EventCorrelator();
  /** The latest state of each unwritten Event. */
  readonly #pending = new Map<string, KubeEvent>();
  #running: Promise<void> | undefined;
  #pause: Timer | undefined;
  #isDropping = false;
  #isStopped = false;

  constructor(deps: EventRecorderDeps) {
    this.#deps = deps;
  }

  /** Returns the recorder of one component, for example `daemonset-controller`. */
  forComponent(component: string): RecordEvent {
    return (object, type, reason, message, counted) => {
      const about = referenceTo(object);
      const event = this.#correlator.correlate(
        { component, about, type, reason, message, ...(counted && { counted }) },
        this.#deps.clock.now(),
      );
      if (!event) return;
      const key = refText(event.metadata);
      if (this.#pending.size >= MAX_PENDING && !this.#pending.has(key)) {
        this.#drop();
        return;
      }
      this.#pending.set(key, event);
      this.#start();
    };
  }

  /** Stops writing. Resolves when the current batch is complete. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#pause?.cancel();
    await this.#running;
  }

  #start(): void {
    if (this.#running || this.#pause || this.#isStopped) return;
    this.#running = this.#writeBatch().then((delayMs) => {
      this.#running = undefined;
      if (delayMs === 0) this.#startIfAnyWait();
      else this.#startAfter(delayMs);
    });
  }

  #startIfAnyWait(): void {
    if (this.#pending.size > 0) this.#start();
  }

  #startAfter(delayMs: number): void {
    if (this.#isStopped) return;
    this.#pause = this.#deps.clock.after(delayMs, () => {
      this.#pause = undefined;
      this.#startIfAnyWait();
    });
  }

  /** Writes one batch. Resolves with the delay before the next one, in ms. */
  async #writeBatch(): Promise<number> {
    // Adds all Events that are recorded in the same microtask to the batch.
    await Promise.resolve();
    const batch: KubeEvent[] = [];
    for (const event of this.#pending.values()) {
      if (batch.push(event) === BATCH) break;
    }
    const refused = await this.#store(batch);
    let isStored = true;
    for (const event of batch) isStored = this.#finish(event, refused.get(event)) && isStored;
    if (this.#pending.size === 0) this.#isDropping = false;
    if (!isStored) return RETRY_MS;
    return batch.length >= LARGE_BATCH ? PAUSE_MS : 0;
  }

  /** Logs once until the queue is empty, so that dropped Events do not flood the log. */
  #drop(): void {
    if (!this.#isDropping)
      this.#deps.log.warn({ waiting: this.#pending.size }, 'too many unwritten Events, dropping new ones');
    this.#isDropping = true;
  }

  /** Returns false if the write should be retried. */
  #finish(event: KubeEvent, error: unknown): boolean {
    const key = refText(event.metadata);
    if (error !== undefined) {
      // A refusal is permanent, for example while the namespace is being deleted.
      const isRefused = error instanceof ApiError && error.code < 500;
      this.#deps.log[isRefused ? 'debug' : 'warn']({ key, err: error }, 'event not written');
      if (!isRefused) return false;
    }
    if (this.#pending.get(key) === event) this.#pending.delete(key);
    return true;
  }

  /** Returns the errors of refused Events. All other Events are stored. */
  async #store(batch: readonly KubeEvent[]): Promise<ReadonlyMap<KubeEvent, unknown>> {
    const refused = new Map<KubeEvent, unknown>();
    const made = batch.filter(isNew);
    const countUp = async (event: KubeEvent) => {
      try {
        if (!(await this.#countUp(event))) made.push(event);
      } catch (error) {
        refused.set(event, error);
      }
    };
    if (made.length < batch.length) await Promise.all(batch.filter((event) => !isNew(event)).map(countUp));
    const refusals = await this.#deps.registry.createInternal(eventKind, made.map(ownOf));
    for (const [at, event] of made.entries()) {
      if (refusals[at] !== undefined) refused.set(event, refusals[at]);
    }
    return refused;
  }

  /** Returns false if the Event is not stored: it has expired, or several occurred before the first write. */
  async #countUp({ metadata, count = 1, message = '', lastTimestamp = null }: KubeEvent): Promise<boolean> {
    const { name, namespace = 'default' } = metadata;
    try {
      await this.#deps.registry.modify(eventKind, { namespace, name }, (stored) => {
        Object.assign(stored, { count, message, lastTimestamp });
        return undefined;
      });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}

function isNew({ count = 1 }: KubeEvent): boolean {
  return count <= 1;
}

/** Returns a copy to give away, because the correlator keeps the original. */
function ownOf(event: KubeEvent): KubeEvent {
  const { name, namespace = 'default' } = event.metadata;
  return { ...event, metadata: { namespace, name } };
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { namespace, name, uid } = metadata;
  return { kind, ...(namespace && { namespace }), name, ...(uid && { uid }), apiVersion };
}
