/** The last changes of each host's conditions, for people: in memory alone, from the informers' news. */
import type { ConditionChange } from '../../../shared/kube/fleet/host-reading-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { conditionChanges } from '../../decisions/views/condition-changes.js';
import type { Informers } from '../../informers/informer.js';

/** Of one host. */
const MOST = 64;

export class ConditionHistory {
  readonly #byNode = new Map<string, ConditionChange[]>();

  constructor({ informers, clock }: { informers: Informers; clock: Clock }) {
    informers.nodes.onChange(({ previous, current }) => {
      if (!current) {
        if (previous) this.#byNode.delete(previous.metadata.name);
        return;
      }
      // What stood there when the coordinator started is no change.
      if (!previous || previous.status?.conditions === current.status?.conditions) return;
      const changes = conditionChanges(
        previous.status?.conditions ?? [],
        current.status?.conditions ?? [],
        toTimestamp(clock.now()),
      );
      if (changes.length > 0) this.#add(current.metadata.name, changes);
    });
  }

  /** The oldest first. */
  of(node: string): ConditionChange[] {
    return this.#byNode.get(node) ?? [];
  }

  #add(node: string, changes: readonly ConditionChange[]): void {
    this.#byNode.set(node, [...this.of(node), ...changes].slice(-MOST));
  }
}
