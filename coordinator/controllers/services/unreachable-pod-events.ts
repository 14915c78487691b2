/** Warns about Services with Pods that other hosts cannot reach. */
import { wantsRelay } from '../../../shared/kube/services/service-annotations.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { RecordEvent } from '../../decisions/events/event-occurrence.js';
import { unreachableText } from '../../decisions/services/endpoint-reasons.js';

/** A rollout changes the count with each Pod. Only a count that stays for this long is reported. */
const STABLE_MS = 10_000;

interface UnreachablePodEventsDeps {
  recordEvent: RecordEvent;
  clock: Clock;
}

interface Count {
  count: number;
  /** By the monotonic clock. */
  since: number;
  reported: number;
}

export class UnreachablePodEvents {
  readonly #deps: UnreachablePodEventsDeps;
  /** By key of the Service. */
  readonly #counts = new Map<string, Count>();

  constructor(deps: UnreachablePodEventsDeps) {
    this.#deps = deps;
  }

  /**
   * Records an Event if the number of these Pods is new and stable. Returns the delay in ms after which to call again, or
   * undefined. An Event is not repeated while the number stays.
   */
  report(key: string, service: Service, pods: number): number | undefined {
    const count = needsOtherHosts(service) ? pods : 0;
    const now = this.#deps.clock.monotonic();
    const last = this.#counts.get(key) ?? { count: 0, since: now, reported: 0 };
    const next = last.count === count ? last : { ...last, count, since: now };
    this.#counts.set(key, next);
    if (count === next.reported) return undefined;
    const remainingMs = next.since + STABLE_MS - now;
    if (remainingMs > 0) return remainingMs;
    next.reported = count;
    if (count > 0) this.#deps.recordEvent(service, 'Warning', 'EndpointsUnreachable', unreachableText(count));
    return undefined;
  }

  forget(key: string): void {
    this.#counts.delete(key);
  }
}

/** A relay makes the Pods reachable. With the policy Local, clients only use the Pod on their own host. */
function needsOtherHosts({ metadata, spec }: Service): boolean {
  return !wantsRelay(metadata) && spec?.internalTrafficPolicy !== 'Local';
}
