/**
 * The parts of a rollout's memory that decide the states of nodes: start, failure, completion and operators' requests.
 */
import type { RolloutMemory } from '../../decisions/rollouts/rollout-memory.js';
import { isListed } from '../../decisions/rollouts/steering-state.js';

type Milestones = {
  [key in 'startedAt' | 'completedAt' | 'retriedAt' | 'failure' | 'stable' | 'steering']:
    | RolloutMemory[key]
    | undefined;
};

const NOT_STARTED: Milestones = {
  startedAt: undefined,
  completedAt: undefined,
  retriedAt: undefined,
  failure: undefined,
  stable: undefined,
  steering: undefined,
};

/** Nodes with a state that may have changed. */
interface MilestoneChange {
  /** Names. `*`: all nodes. */
  named: readonly string[];
  /** The start time changed: failed nodes may have another state. */
  hasStarted: boolean;
  /** The rollout failed, was retried or was completed: unfinished nodes may have another state. */
  hasEnded: boolean;
}

export class RolloutMilestones {
  #now = NOT_STARTED;

  update({ startedAt, completedAt, retriedAt, failure, stable, steering }: RolloutMemory): MilestoneChange {
    const before = this.#now;
    this.#now = { startedAt, completedAt, retriedAt, failure, stable, steering };
    return {
      named: [
        ...changedNames(before.steering?.skipped, steering?.skipped),
        ...changedNames(before.steering?.overridden, steering?.overridden),
      ],
      hasStarted: before.startedAt !== startedAt,
      hasEnded:
        before.completedAt !== completedAt || before.retriedAt !== retriedAt || before.failure !== failure,
    };
  }

  /** Times are ms since the epoch. `failure`: why the revision is barred. `stable`: the revision for a rollback. */
  get times(): Readonly<Omit<Milestones, 'steering'>> {
    return this.#now;
  }

  isSkipped(name: string): boolean {
    // A barred revision is rolled back on skipped nodes too.
    return this.#now.failure === undefined && isListed(this.#now.steering?.skipped, name);
  }

  /** Returns true if windows and freezes do not apply to the node. */
  isOverridden(name: string): boolean {
    return isListed(this.#now.steering?.overridden, name);
  }
}

/** Returns names that are in only one of the lists. */
function changedNames(before: readonly string[] = [], after: readonly string[] = []): string[] {
  if (before === after) return [];
  return [
    ...before.filter((name) => !after.includes(name)),
    ...after.filter((name) => !before.includes(name)),
  ];
}
