/** Distinguishes certificates of hosts from those of coordinators: the same authority signs both. */

const NODES_GROUP = 'system:nodes';

/**
 * `subject` is that of a certificate's legacy object, which lists each attribute, also of a multi-valued part. The text
 * of a subject joins such parts, so that a pattern for a line would miss them.
 */
export function isHostSubject(subject: { O?: unknown } | undefined): boolean {
  return [subject?.O].flat().includes(NODES_GROUP);
}
