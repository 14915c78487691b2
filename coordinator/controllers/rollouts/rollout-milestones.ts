/** What of a rollout's memory places its nodes: when it began, failed and was completed, and what people have asked. */
import type { RolloutMemory } from '../../decisions/rollouts/rollout-memory.js';
import { isListed } from '../../decisions/rollouts/steering-state.js';

type Course = {
  [key in 'startedAt' | 'completedAt' | 'retriedAt' | 'failure' | 'stable' | 'steering']:
    | RolloutMemory[key]
    | undefined;
};

const AT_THE_START: Course = {
  startedAt: undefined,
  completedAt: undefined,
  retriedAt: undefined,
  failure: undefined,
  stable: undefined,
  steering: undefined,
};

/** Whom what is new may place elsewhere. */
interface CourseChange {
  /** `*` among them: all. */
  named: readonly string[];
  /** All that have failed as well: when it began is known, or known otherwise. */
  hasBegun: boolean;
  /** All that are not done as well: it has failed, is tried again or was completed. */
  hasTurned: boolean;
}

export class RolloutMilestones {
  #now = AT_THE_START;

  /** Takes over what is remembered now. */
  update({ startedAt, completedAt, retriedAt, failure, stable, steering }: RolloutMemory): CourseChange {
    const before = this.#now;
    this.#now = { startedAt, completedAt, retriedAt, failure, stable, steering };
    return {
      named: [
        ...changedNames(before.steering?.skipped, steering?.skipped),
        ...changedNames(before.steering?.overridden, steering?.overridden),
      ],
      hasBegun: before.startedAt !== startedAt,
      hasTurned:
        before.completedAt !== completedAt || before.retriedAt !== retriedAt || before.failure !== failure,
    };
  }

  /** Times in ms since the epoch; `failure`: why the revision is barred, `stable`: the one to go back to. */
  get times(): Readonly<Omit<Course, 'steering'>> {
    return this.#now;
  }

  isSkipped(name: string): boolean {
    // What is barred goes back everywhere.
    return this.#now.failure === undefined && isListed(this.#now.steering?.skipped, name);
  }

  /** No window or freeze period holds it back. */
  isOverridden(name: string): boolean {
    return isListed(this.#now.steering?.overridden, name);
  }
}

/** Names that stand in one of two lists only. */
function changedNames(before: readonly string[] = [], after: readonly string[] = []): string[] {
  if (before === after) return [];
  return [
    ...before.filter((name) => !after.includes(name)),
    ...after.filter((name) => !before.includes(name)),
  ];
}
