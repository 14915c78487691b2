/** Decides which revisions are current, old or superfluous (pkg/controller/daemon constructHistory, cleanupHistory). */
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { newRevision, revisionHashOf, revisionsWithTemplate } from './template-revision.js';

/** A DaemonSet's revisions, and the changes that they need. */
export interface RevisionHistory {
  /**
   * The revision of the current template. `duplicates` have to be deleted after all Pods carry the hash of `revision`.
   */
  current:
    | { kind: 'create'; revision: ControllerRevision }
    | { kind: 'keep'; revision: ControllerRevision; number: number; duplicates: ControllerRevision[] };
  /** Revisions of other templates. */
  old: ControllerRevision[];
}

function highest(revisions: readonly ControllerRevision[]): number {
  return Math.max(0, ...revisions.map((revision) => revision.revision));
}

/** `number`: the number that the kept revision must get. A template that is used again gets the highest number. */
export function revisionHistory(
  daemonSet: DaemonSet,
  revisions: readonly ControllerRevision[],
): RevisionHistory {
  const matching = revisionsWithTemplate(revisions, daemonSet.spec.template);
  const old = revisions.filter((revision) => !matching.includes(revision));
  const next = highest(old) + 1;
  const kept = [...matching].sort((a, b) => a.revision - b.revision).at(-1);
  if (!kept) return { current: { kind: 'create', revision: newRevision(daemonSet, next) }, old };
  const duplicates = matching.filter((revision) => revision !== kept);
  const number = Math.max(kept.revision, next);
  return { current: { kind: 'keep', revision: kept, number, duplicates }, old };
}

/**
 * Returns the old revisions beyond the limit, lowest number first. A revision is in use if a Pod carries it, or if a
 * rollout would roll back to it.
 */
export function revisionsToTrim(
  old: readonly ControllerRevision[],
  limit: number,
  isInUse: (hash: string) => boolean,
): ControllerRevision[] {
  const excess = Math.max(0, old.length - limit);
  return [...old]
    .sort((a, b) => a.revision - b.revision)
    .filter((revision) => !isInUse(revisionHashOf(revision)))
    .slice(0, excess);
}
