/** The error text for a request that the API refused: kubectl's words and, for a 403, the RBAC rule that would allow it. */
import type { ApiError } from '../../../shared/kube/objects/api-status.js';
import { escapeLine } from '../../../shared/process/output/terminal-output.js';

/** `User "ann" cannot list resource "secrets" in API group "" in the namespace "kube-system"` */
const FORBIDDEN =
  /User "(?<user>[^"]*)" cannot (?<verb>\S+) resource "(?<resource>[^"]*)" in API group "(?<group>[^"]*)"(?: in the namespace "(?<namespace>[^"]*)")?/;

/** Pure. */
export function refusalText({ reason, message }: ApiError): string {
  if (reason === 'Unauthorized') {
    return 'You must be logged in to the server (Unauthorized): the credentials in the kubeconfig are missing, expired or revoked.';
  }
  const refusal = `Error from server (${reason}): ${escapeLine(message)}`;
  const needed = FORBIDDEN.exec(message)?.groups;
  if (reason !== 'Forbidden' || !needed) return refusal;
  const { user, verb, resource, group, namespace } = needed;
  const where = namespace === undefined ? 'a ClusterRole' : `a Role in namespace "${namespace}"`;
  const rule = `apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"]`;
  return `${refusal}\nAn administrator can allow it by ${where} with the rule {${rule}}, bound to "${user}" or one of its groups.`;
}
