/** Writes what controllers tell about objects as Events, many at once: never waited for, never an error to the teller. */

import { ApiError, isNotFound } from '../../../shared/kube/objects/api-status.js';
import type { KubeEvent, ObjectReference } from '../../../shared/kube/objects/event-types.js';
import { type KubeObject, refText } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { eventKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { EventCorrelator, type OccurrenceCount } from './event-correlator.js';

/** Tells of one occurrence, or of several counted elsewhere. Equal ones are counted, many similar ones combined, too many dropped. */
export type RecordEvent = (
  about: KubeObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  counted?: OccurrenceCount,
) => void;

interface EventRecorderDeps {
  registry: Pick<Registry, 'createInternal' | 'modify'>;
  clock: Clock;
  log: Logger;
}

/** Events that wait to be written, some 50 MB of them; more are dropped, as upstream's full channel does. */
const MAX_PENDING = 50_000;
/** Events written together: they share a commit of the store. */
const BATCH = 250;
/** After a batch of so many the next one waits: what Events tell of has the right of way, and a crowd's share their commits. */
const CROWD = 16;
const PAUSE_MS = 50;
/** After the store failed. */
const RETRY_MS = 1_000;

/** One for all controllers. Events of cluster-scoped objects go to the namespace `default`. */
export class EventRecorder {
  readonly #parts: EventRecorderDeps;
  readonly #correlator = new EventCorrelator();
  /** The newest state of each Event that is not written yet. */
  readonly #pending = new Map<string, KubeEvent>();
  #running: Promise<void> | undefined;
  #pause: Timer | undefined;
  #isDropping = false;
  #isStopped = false;

  constructor(parts: EventRecorderDeps) {
    this.#parts = parts;
  }

  /** The recorder of one component, e.g. `daemonset-controller`. */
  forComponent(component: string): RecordEvent {
    return (object, type, reason, message, counted) => {
      const about = referenceTo(object);
      const event = this.#correlator.correlate(
        { component, about, type, reason, message, ...(counted && { counted }) },
        this.#parts.clock.now(),
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

  /** Writes no more; resolves when what is on its way has been answered. */
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
    this.#pause = this.#parts.clock.after(delayMs, () => {
      this.#pause = undefined;
      this.#startIfAnyWait();
    });
  }

  /** Resolves with how long to leave the store alone now, in ms. */
  async #writeBatch(): Promise<number> {
    // Lets everything that is told in the same turn into the batch.
    await Promise.resolve();
    const batch: KubeEvent[] = [];
    for (const event of this.#pending.values()) {
      if (batch.push(event) === BATCH) break;
    }
    const refused = await this.#store(batch);
    let isStored = true;
    for (const event of batch) isStored = this.#answered(event, refused.get(event)) && isStored;
    if (this.#pending.size === 0) this.#isDropping = false;
    if (!isStored) return RETRY_MS;
    return batch.length >= CROWD ? PAUSE_MS : 0;
  }

  /** Said once until all that waits is written: the log is not to drown in place of the store. */
  #drop(): void {
    if (!this.#isDropping)
      this.#parts.log.warn({ waiting: this.#pending.size }, 'events are dropped, too many wait');
    this.#isDropping = true;
  }

  /** False when it is worth another try. */
  #answered(event: KubeEvent, error: unknown): boolean {
    const key = refText(event.metadata);
    if (error !== undefined) {
      // A refused Event (its namespace is going, say) stays refused.
      const isRefused = error instanceof ApiError && error.code < 500;
      this.#parts.log[isRefused ? 'debug' : 'warn']({ key, err: error }, 'event not written');
      if (!isRefused) return false;
    }
    if (this.#pending.get(key) === event) this.#pending.delete(key);
    return true;
  }

  /** Answers what Events were refused for; those that it leaves out are stored. */
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
    const refusals = await this.#parts.registry.createInternal(eventKind, made.map(ownOf));
    for (const [at, event] of made.entries()) {
      if (refusals[at] !== undefined) refused.set(event, refusals[at]);
    }
    return refused;
  }

  /** False when there is nothing to count up: it has expired, or was never written because several came at once. */
  async #countUp({ metadata, count = 1, message = '', lastTimestamp = null }: KubeEvent): Promise<boolean> {
    const { name, namespace = 'default' } = metadata;
    try {
      await this.#parts.registry.modify(eventKind, { namespace, name }, (stored) => {
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

/** To be given away: the correlator keeps its own. */
function ownOf(event: KubeEvent): KubeEvent {
  const { name, namespace = 'default' } = event.metadata;
  return { ...event, metadata: { namespace, name } };
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { namespace, name, uid } = metadata;
  return { kind, ...(namespace && { namespace }), name, ...(uid && { uid }), apiVersion };
}
