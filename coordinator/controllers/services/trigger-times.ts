/** Times for the annotation `last-change-trigger-time` (staging/src/k8s.io/endpointslice/util/trigger_time_tracker.go). */
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { type Service, serviceKey } from '../../../shared/kube/services/service-types.js';

export class TriggerTimes {
  /** By key of the Service: the earliest change since the last `take`, in ms since the epoch. */
  readonly #changedAt = new Map<string, number>();
  readonly #known = new Set<string>();

  mark(key: string, changedAt: number | undefined): void {
    if (changedAt === undefined || !this.#known.has(key)) return;
    this.#changedAt.set(key, Math.min(this.#changedAt.get(key) ?? changedAt, changedAt));
  }

  /** Returns the time to write, or undefined. For a Service that is new to this process: when it was created. */
  take(service: Service): string | undefined {
    const key = serviceKey(service.metadata);
    if (!this.#known.has(key)) {
      this.#known.add(key);
      return service.metadata.creationTimestamp ?? undefined;
    }
    const changedAt = this.#changedAt.get(key);
    this.#changedAt.delete(key);
    return changedAt === undefined ? undefined : toTimestamp(changedAt);
  }

  forget(key: string): void {
    this.#changedAt.delete(key);
    this.#known.delete(key);
  }
}
