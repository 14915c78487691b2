/** Keeps the latest condition changes of each host in memory. */
import type { ConditionChange } from '../../../shared/kube/fleet/host-reading-types.js';
import type { Condition } from '../../../shared/kube/objects/conditions.js';
import { type Timestamp, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Informers } from '../../informers/informer.js';

/** Limit per host. */
const MOST = 64;

export class ConditionHistory {
  readonly #byNode = new Map<string, ConditionChange[]>();

  constructor({ informers, clock }: { informers: Informers; clock: Clock }) {
    informers.nodes.onChange(({ previous, current }) => {
      if (!current) {
        if (previous) this.#byNode.delete(previous.metadata.name);
        return;
      }
      // Conditions from before the coordinator's start are not changes.
      if (!previous || previous.status?.conditions === current.status?.conditions) return;
      const changes = conditionChanges(
        previous.status?.conditions ?? [],
        current.status?.conditions ?? [],
        toTimestamp(clock.now()),
      );
      if (changes.length > 0) this.#add(current.metadata.name, changes);
    });
  }

  /** Oldest first. */
  of(node: string): ConditionChange[] {
    return this.#byNode.get(node) ?? [];
  }

  #add(node: string, changes: readonly ConditionChange[]): void {
    this.#byNode.set(node, [...this.of(node), ...changes].slice(-MOST));
  }
}

export function conditionChanges(
  previous: readonly Condition[],
  current: readonly Condition[],
  now: Timestamp,
): ConditionChange[] {
  return current.flatMap(({ type, status, reason = '', message = '', lastTransitionTime }) => {
    const before = previous.find((condition) => condition.type === type);
    if (before?.status === status) return [];
    const from = before && { from: before.status };
    return [{ time: lastTransitionTime ?? now, type, ...from, status, reason, message }];
  });
}
