/** Which revision is current, which are old, and which may go (pkg/controller/daemon constructHistory, cleanupHistory). */
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { newRevision, revisionHashOf, revisionsWithTemplate } from './template-revision.js';

/** What the history of a DaemonSet is and asks for. */
export interface RevisionHistory {
  /** How the template's revision comes about. `duplicates` are to be deleted once Pods carry the hash of `revision`. */
  current:
    | { kind: 'create'; revision: ControllerRevision }
    | { kind: 'keep'; revision: ControllerRevision; number: number; duplicates: ControllerRevision[] };
  /** Revisions of other templates. */
  old: ControllerRevision[];
}

function highest(revisions: readonly ControllerRevision[]): number {
  return Math.max(0, ...revisions.map((revision) => revision.revision));
}

/** `number` is what the kept revision's number is to be: going back raises it above all others. */
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

/** The old revisions beyond the limit, lowest number first, but none that is in use: a Pod carries it, or a rollout would go back to it. */
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
