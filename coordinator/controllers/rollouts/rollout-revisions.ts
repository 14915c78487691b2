/** Other revisions of a DaemonSet that a rollout needs. */

import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { RolloutStatus } from '../../../shared/kube/rollouts/rollout-types.js';
import { revisionHashOf, templateOf, withTemplate } from '../../decisions/daemonsets/template-revision.js';
import type { PinnedRevision } from './rollout-constraints.js';

/** Returns true if a rollout of the revision was completed and has not failed since. */
export function isRevisionCompleted(status: RolloutStatus, hash: string): boolean {
  return status.revision === hash && status.completionTime !== undefined && status.failure === undefined;
}

/** Returns the stable revision for a rollout of `hash`, or undefined. */
export function stableRevisionIn(status: RolloutStatus, hash: string): string | undefined {
  const isPresent = status.revision === hash || !status.completionTime;
  const stable = isPresent ? status.stableRevision : status.revision;
  return stable === hash ? undefined : stable;
}

/** Returns the hash of the newest other revision. */
export function previousHash(revisions: readonly ControllerRevision[], hash: string): string | undefined {
  const others = revisions.filter((revision) => revisionHashOf(revision) !== hash);
  const newest = [...others].sort((a, b) => b.revision - a.revision)[0];
  return newest && revisionHashOf(newest);
}

/** Keyed by the informers' objects, which are replaced and never changed. Callers cache by the returned object. */
const known = new WeakMap<DaemonSet, WeakMap<ControllerRevision, PinnedRevision>>();

/** Returns the DaemonSet with the template of that revision. Undefined if there is none or its data is unreadable. */
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
