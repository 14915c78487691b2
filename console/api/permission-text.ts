/** Refusals of RBAC as a sentence about the user. Pure. */

/** The API's message (staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go). */
const REFUSAL =
  /cannot (\S+) resource "([^"]+)" in API group "[^"]*"(?: in the namespace "([^"]+)"| at the cluster scope)?/;

/** Returns `You are not allowed to list hosts.` Other messages, such as those of admission, are returned unchanged. */
export function permissionText(message: string): string {
  const [found, verb = '', resource = '', namespace] = REFUSAL.exec(message) ?? [];
  if (found === undefined) return message;
  return `You are not allowed to ${verb} ${resource}${namespace ? ` in namespace ${namespace}` : ''}.`;
}
