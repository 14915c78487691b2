/**
 * How many long reads run at once. Each holds what it reads in memory until its reader has it, and all share one slice of
 * the processor: more of them at once end no sooner. Upstream's counterpart is the seats of API Priority and Fairness.
 * Some places, running and waiting, are kept for users with few: otherwise the slow readers of one user delay everybody.
 */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import type { ResourceRequest } from '../http/request-info.js';
import { UserSlots } from './in-flight-limit.js';

export interface LargeReadSettings {
  /** A read of more objects is large: above kubectl's own pages. */
  fromObjects: number;
  maxConcurrent: number;
  /** Reads that may wait for a place; beyond, 429 at once. */
  maxWaiting: number;
  /** Then 429, too. */
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
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();

  constructor(
    private readonly settings: LargeReadSettings,
    private readonly clock: Clock,
  ) {
    this.#running = new UserSlots(settings.maxConcurrent);
    this.#queued = new UserSlots(settings.maxWaiting);
  }

  /** Whether a read of so many objects needs a place. */
  isLarge(objects: number): boolean {
    return objects > this.settings.fromObjects;
  }

  /** Waits for a place and keeps it until `signal` aborts or the returned function is called. `user` as for `UserSlots`. Throws 429. */
  async enter(user: string, signal: AbortSignal): Promise<() => void> {
    const free = this.#running.hasSlotFor(user) ? this.#running.take(user) : await this.#turn(user, signal);
    const leave = () => {
      free();
      this.#admitNext();
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    return leave;
  }

  /** Of those who may take a place, the one who waits longest takes it at once. */
  #admitNext(): void {
    for (const { user, admit } of this.#waiting) {
      if (this.#running.hasSlotFor(user)) admit(this.#running.take(user));
    }
  }

  #turn(user: string, signal: AbortSignal): Promise<() => void> {
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

/** A field selector by which one object is read, not the kind. */
const BY_NAME = /(^|,)metadata\.name==?[^,]/;

/** How many objects a page of a list, or the initial events of a watch, goes through. */
export async function objectsToRead(
  registry: Registry,
  kind: Kind,
  { query, namespace }: Pick<ResourceRequest, 'query' | 'namespace'>,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> {
  const fieldSelector = query.get('fieldSelector') ?? '';
  if (BY_NAME.test(fieldSelector)) return 1;
  // A selector may have to look at everything to fill one page.
  const isFiltered = fieldSelector !== '' || Boolean(query.get('labelSelector'));
  const scope = namespace === undefined ? {} : { namespace };
  const { records, remainingItemCount = 0 } = await registry.list(kind, { ...scope, limit: 1 });
  const stored = records.length + remainingItemCount;
  return isFiltered ? stored : Math.min(stored, limit);
}
