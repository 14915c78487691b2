/** Writes what controllers tell about objects as Events: never waited for, never an error to the teller. */
import type { KubeEvent, ObjectReference } from '../../shared/kube/event.js';
import { type KubeObject, refText } from '../../shared/kube/meta.js';
import { ApiError } from '../../shared/kube/status.js';
import type { Clock } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import { eventKind } from '../kinds/index.js';
import type { Registry } from '../registry/registry.js';
import { type Counted, EventCorrelator } from './event-correlator.js';
import { Worker } from './worker.js';

/** Tells of one occurrence, or of several counted elsewhere. Equal ones are counted, many similar ones combined, too many dropped. */
export type RecordEvent = (
  about: KubeObject,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  counted?: Counted,
) => void;

export interface EventRecorderParts {
  registry: Pick<Registry, 'create' | 'modify'>;
  clock: Clock;
  log: Logger;
}

/** Events that wait to be written; more are dropped, as upstream's full channel does. */
const MAX_PENDING = 10_000;
/** Enough that Events of a rollout share commits of the store. */
const WRITES_AT_ONCE = 64;

/** One for all controllers. Events of cluster-scoped objects go to the namespace `default`. */
export class EventRecorder {
  readonly #parts: EventRecorderParts;
  readonly #correlator = new EventCorrelator();
  /** The newest state of each Event that is not written yet. */
  readonly #pending = new Map<string, KubeEvent>();
  readonly #worker: Worker;
  #isDropping = false;

  constructor(parts: EventRecorderParts) {
    this.#parts = parts;
    this.#worker = new Worker({
      name: 'event-recorder',
      reconcile: (key) => this.#write(key),
      informers: { waitFor: () => Promise.resolve() },
      clock: parts.clock,
      log: parts.log,
      concurrency: WRITES_AT_ONCE,
    });
  }

  /** The recorder of one component, e.g. `daemonset-controller`. */
  from(component: string): RecordEvent {
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
      this.#worker.queue.add(key);
    };
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  /** Said once until all that waits is written: the log is not to drown in place of the store. */
  #drop(): void {
    if (!this.#isDropping)
      this.#parts.log.warn({ waiting: this.#pending.size }, 'events are dropped, too many wait');
    this.#isDropping = true;
  }

  async #write(key: string): Promise<void> {
    const event = this.#pending.get(key);
    if (!event) return;
    try {
      await this.#store(event);
    } catch (error) {
      // A refused Event (its namespace is going, say) stays refused; anything else is worth another try.
      if (!(error instanceof ApiError) || error.code >= 500) throw error;
      this.#parts.log.debug({ key, err: error }, 'event refused');
    }
    if (this.#pending.get(key) === event) this.#pending.delete(key);
    if (this.#pending.size === 0) this.#isDropping = false;
  }

  async #store(event: KubeEvent): Promise<void> {
    const { registry } = this.#parts;
    const { name, namespace = 'default' } = event.metadata;
    if ((event.count ?? 1) > 1) {
      try {
        await registry.modify(eventKind, { namespace, name }, (stored) => {
          stored.count = event.count ?? 1;
          stored.message = event.message ?? '';
          stored.lastTimestamp = event.lastTimestamp ?? null;
          return undefined;
        });
        return;
      } catch (error) {
        // It has expired, or was never written because several came at once.
        if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error;
      }
    }
    await registry.create(eventKind, namespace, event);
  }
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { namespace, name, uid } = metadata;
  return { kind, ...(namespace && { namespace }), name, ...(uid && { uid }), apiVersion };
}
