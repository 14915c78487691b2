/**
 * Limits concurrent reads of many objects. Each holds its objects in memory until its reader has received them, and all
 * share one time slice, so more of them would not finish sooner. Upstream's counterpart is the seats of API Priority
 * and Fairness. Some slots, running and waiting, are reserved for users with few reads, so that the slow readers of one
 * user do not delay the others.
 */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import type { ResourceRequest } from '../http/request-info.js';
import { UserSlots } from './in-flight-limit.js';

export interface LargeReadSettings {
  /** Reads of more objects are large. Above kubectl's page size. */
  fromObjects: number;
  maxConcurrent: number;
  /** Maximum number of waiting reads. Further ones get 429 at once. */
  maxWaiting: number;
  /** Waiting reads get 429 after this time. */
  maxWaitMs: number;
}

export const DEFAULT_LARGE_READS: LargeReadSettings = {
  fromObjects: 500,
  maxConcurrent: 8,
  maxWaiting: 100,
  maxWaitMs: 15_000,
};

const RETRY_AFTER_SECONDS = 2;

function tooMany(): ApiError {
  const message = 'too many large lists at once, please try again later, or list in pages (limit=500)';
  return new ApiError('TooManyRequests', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

interface Waiting {
  user: string;
  admit: (leave: () => void) => void;
}

export class LargeReads {
  readonly #running: UserSlots;
  readonly #queued: UserSlots;
  /** In order of arrival. */
  readonly #waiting = new Set<Waiting>();

  constructor(
    private readonly settings: LargeReadSettings,
    private readonly clock: Clock,
  ) {
    this.#running = new UserSlots(settings.maxConcurrent);
    this.#queued = new UserSlots(settings.maxWaiting);
  }

  /** True if a read of this many objects needs a slot. */
  isLarge(objects: number): boolean {
    return objects > this.settings.fromObjects;
  }

  /**
   * Waits for a slot and holds it until `signal` aborts or the returned function is called. `user` as for `UserSlots`.
   * Throws 429.
   */
  async enter(user: string, signal: AbortSignal): Promise<() => void> {
    const free = this.#running.hasSlotFor(user)
      ? this.#running.take(user)
      : await this.#waitForSlot(user, signal);
    const leave = () => {
      free();
      this.#admitNext();
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    return leave;
  }

  /** Gives free slots to waiting reads in order of arrival. Skips users who may not take one. */
  #admitNext(): void {
    for (const { user, admit } of this.#waiting) {
      if (this.#running.hasSlotFor(user)) admit(this.#running.take(user));
    }
  }

  #waitForSlot(user: string, signal: AbortSignal): Promise<() => void> {
    if (!this.#queued.hasSlotFor(user)) throw tooMany();
    const leaveQueue = this.#queued.take(user);
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(waiting);
        leaveQueue();
        timer.cancel();
        signal.removeEventListener('abort', onTimeout);
      };
      const admit = (leave: () => void) => {
        stop();
        resolve(leave);
      };
      const onTimeout = () => {
        stop();
        reject(tooMany());
      };
      const waiting = { user, admit };
      const timer = this.clock.after(this.settings.maxWaitMs, onTimeout);
      signal.addEventListener('abort', onTimeout);
      this.#waiting.add(waiting);
    });
  }
}

/** A field selector that selects one object by name. */
const BY_NAME = /(^|,)metadata\.name==?[^,]/;

/**
 * Returns the number of objects that a page of a list, or the initial events of a watch, must read. The store's index
 * has the count.
 */
export async function objectsToRead(
  registry: Registry,
  kind: Kind,
  { query, namespace }: Pick<ResourceRequest, 'query' | 'namespace'>,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> {
  const fieldSelector = query.get('fieldSelector') ?? '';
  if (BY_NAME.test(fieldSelector)) return 1;
  // With a selector, one page may need all objects.
  const isFiltered = fieldSelector !== '' || Boolean(query.get('labelSelector'));
  const scope = namespace === undefined ? {} : { namespace };
  const { records, remainingItemCount = 0 } = await registry.list(kind, { ...scope, limit: 1 });
  const stored = records.length + remainingItemCount;
  return isFiltered ? stored : Math.min(stored, limit);
}
