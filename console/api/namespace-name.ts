/** Names of namespaces. Pure. */

const MAX_LENGTH = 63;
const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Returns true for an RFC 1123 label, as the API requires it. Other text from a URL must not get into a command. */
export function isNamespaceName(text: string): boolean {
  return text.length <= MAX_LENGTH && LABEL.test(text);
}
