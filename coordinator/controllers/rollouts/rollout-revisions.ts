/** Which other revisions matter to a rollout, and what Pods of them are made of. */

import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { revisionHashOf, templateOf, withTemplate } from '../../decisions/daemonsets/template-revision.js';
import type { PinnedRevision } from './rollout-constraints.js';

/** Whether the revision `hash` has been completed: it is what Pods are made of everywhere. */
export function isRevisionCompleted(status: RolloutStatus, hash: string): boolean {
  return status.revision === hash && status.completionTime !== undefined && status.failure === undefined;
}

/** What is stable while `hash` is on its way: another revision, or none. */
export function stableRevisionIn(status: RolloutStatus, hash: string): string | undefined {
  const isPresent = status.revision === hash || !status.completionTime;
  const stable = isPresent ? status.stableRevision : status.revision;
  return stable === hash ? undefined : stable;
}

/** Hash of the newest revision but this one. */
export function previousHash(revisions: readonly ControllerRevision[], hash: string): string | undefined {
  const others = revisions.filter((revision) => revisionHashOf(revision) !== hash);
  const newest = [...others].sort((a, b) => b.revision - a.revision)[0];
  return newest && revisionHashOf(newest);
}

/** By the informers' objects: they are never changed, only replaced. One answer is one object, of which more is worked out. */
const known = new WeakMap<DaemonSet, WeakMap<ControllerRevision, PinnedRevision>>();

/** The DaemonSet as it was with the revision of that hash; undefined where there is none, or none that can be read. */
export function pinnedRevisionOf(
  daemonSet: DaemonSet,
  revisions: readonly ControllerRevision[],
  hash: string | undefined,
): PinnedRevision | undefined {
  const revision = hash && revisions.find((one) => revisionHashOf(one) === hash);
  if (!revision) return undefined;
  const others = known.get(daemonSet) ?? new WeakMap<ControllerRevision, PinnedRevision>();
  known.set(daemonSet, others);
  const present = others.get(revision);
  if (present) return present;
  const template = templateOf(revision);
  if (!template) return undefined;
  const other = { daemonSet: withTemplate(daemonSet, template), hash };
  others.set(revision, other);
  return other;
}
