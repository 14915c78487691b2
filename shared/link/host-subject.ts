/** Distinguishes certificates of hosts from those of coordinators: the same authority signs both. */
import { NODES_GROUP } from '../kube/access/node-identity.js';

/**
 * Returns true for the subject of a host. `subject` comes from the legacy object of a certificate, which lists each
 * attribute. The text of a subject joins the attributes of a multi-valued part, so a pattern for lines would miss them.
 */
export function isHostSubject(subject: { O?: unknown } | undefined): boolean {
  return [subject?.O].flat().includes(NODES_GROUP);
}
