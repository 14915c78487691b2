/** Records an Event about each Service that shares its address or a port with an older Service. Changes nothing. */
import { refText } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { sharedAllocations } from '../../decisions/services/shared-allocations.js';
import type { Informers } from '../../informers/informer.js';
import { type ReconcileContext, Worker } from '../queue/reconcile-worker.js';

/** All Services are checked together. */
const KEY = 'services';
/** A check visits all Services, so that many writes must share one. Nothing depends on the time of its Events. */
const GATHER_MS = 5_000;
/** Time after which an Event is recorded again, in ms. Events are stored for an hour. */
const REPEAT_MS = 3_600_000;

interface AllocationConflictsDeps {
  informers: Informers;
  recordEvent: RecordEvent;
  clock: Clock;
  log: Logger;
}

export class AllocationConflicts {
  readonly #deps: AllocationConflictsDeps;
  readonly #worker: Worker;
  /** When each conflict was last recorded, by Service and message. Monotonic times in ms. */
  #recorded = new Map<string, number>();

  constructor(deps: AllocationConflictsDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'service-allocation',
      reconcile: (_key, context) => this.#reconcile(context),
      ...deps,
    });
    deps.informers.services.onChange(() => this.#worker.queue.addAfter(KEY, GATHER_MS));
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  async #reconcile(context: ReconcileContext): Promise<void> {
    const { informers, recordEvent, clock } = this.#deps;
    const now = clock.monotonic();
    const recorded = new Map<string, number>();
    for (const { service, type, reason, message } of sharedAllocations(informers.services.list())) {
      const key = `${refText(service.metadata)} ${message}`;
      const last = this.#recorded.get(key);
      const isDue = last === undefined || now - last >= REPEAT_MS;
      recorded.set(key, isDue ? now : last);
      if (isDue) recordEvent(service, type, reason, message);
    }
    this.#recorded = recorded;
    if (recorded.size > 0) context.requeueAfter(REPEAT_MS);
  }
}
