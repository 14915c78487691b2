/** Finds the user whose write caused a revision of a DaemonSet. */
import type { AuditEvent } from '../../../shared/kube/access/audit-types.js';
import type { ControllerRevision } from '../../../shared/kube/daemonsets/daemonset-types.js';

/** The controller stores a revision soon after the write, unless the coordinator was restarted in between. */
const MOST_MS = 120_000;
/** Times of objects are whole seconds. */
const ROUNDING_MS = 1_000;

/** Returns the user of the last write before the revision, or undefined if the audit log does not have it. */
export function revisionAuthor(
  { metadata }: ControllerRevision,
  writes: readonly AuditEvent[],
): string | undefined {
  const created = Date.parse(metadata.creationTimestamp ?? '');
  const causes = writes
    .map(({ stageTimestamp, user }) => ({ at: Date.parse(stageTimestamp), user: user.username }))
    .filter(({ at }) => at <= created + ROUNDING_MS && at >= created - MOST_MS)
    .sort((a, b) => b.at - a.at);
  return causes[0]?.user;
}
