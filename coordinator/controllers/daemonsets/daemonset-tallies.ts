/** The tallies of all DaemonSets. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { type ObjectRef, refText } from '../../../shared/kube/objects/meta.js';
import { type RolloutConstraints, UNCONSTRAINED } from '../rollouts/rollout-constraints.js';
import { DaemonSetTally, type TallySubject } from './daemonset-tally.js';

function isSameSubject(a: TallySubject, b: TallySubject): boolean {
  return (
    a.uid === b.uid &&
    a.generation === b.generation &&
    a.current.hash === b.current.hash &&
    a.current.values === b.current.values &&
    a.current.templateGeneration === b.current.templateGeneration
  );
}

/** A DaemonSet's tally, and what its rollout allows at present. */
export interface CountedDaemonSet {
  readonly tally: DaemonSetTally;
  constraints: RolloutConstraints;
}

/** At most one tally for each DaemonSet. */
export class DaemonSetTallies {
  readonly #counted = new Map<string, CountedDaemonSet>();

  /** Returns undefined until the fleet reconciler has started a tally for this generation. */
  of(daemonSet: DaemonSet): CountedDaemonSet | undefined {
    const counted = this.#counted.get(refText(daemonSet.metadata));
    const { uid, generation } = daemonSet.metadata;
    const isCurrent = counted?.tally.subject.uid === uid && counted?.tally.subject.generation === generation;
    return isCurrent ? counted : undefined;
  }

  /** Returns the tally of this subject. A tally of another subject is replaced by an empty one. */
  getOrStart(ref: ObjectRef, subject: TallySubject): CountedDaemonSet {
    const present = this.#counted.get(refText(ref));
    if (present && isSameSubject(present.tally.subject, subject)) return present;
    const counted = { tally: new DaemonSetTally(subject), constraints: UNCONSTRAINED };
    this.#counted.set(refText(ref), counted);
    return counted;
  }

  forget(ref: ObjectRef): void {
    this.#counted.delete(refText(ref));
  }
}
