/** The tallies of all DaemonSets, and which of them still speak of the present one. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { type ObjectRef, refText } from '../../../shared/kube/objects/meta.js';
import { DaemonSetTally, type TallySubject } from './daemonset-tally.js';

function isSameSubject(a: TallySubject, b: TallySubject): boolean {
  return (
    a.uid === b.uid &&
    a.generation === b.generation &&
    a.current.hash === b.current.hash &&
    a.current.templateGeneration === b.current.templateGeneration
  );
}

/** One tally a DaemonSet at most. */
export class DaemonSetTallies {
  readonly #tallies = new Map<string, DaemonSetTally>();

  /** The tally counted for this very generation; undefined while the fleet key has still to begin it. */
  of(daemonSet: DaemonSet): DaemonSetTally | undefined {
    const tally = this.#tallies.get(refText(daemonSet.metadata));
    const { uid, generation } = daemonSet.metadata;
    return tally?.subject.uid === uid && tally?.subject.generation === generation ? tally : undefined;
  }

  /** The tally for this subject, begun anew when there is none. */
  getOrStart(ref: ObjectRef, subject: TallySubject): DaemonSetTally {
    const present = this.#tallies.get(refText(ref));
    if (present && isSameSubject(present.subject, subject)) return present;
    const tally = new DaemonSetTally(subject);
    this.#tallies.set(refText(ref), tally);
    return tally;
  }

  forget(ref: ObjectRef): void {
    this.#tallies.delete(refText(ref));
  }
}
