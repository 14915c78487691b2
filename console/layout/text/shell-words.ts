/** Parts of the commands that the console offers to copy. Pure. */
import { isNamespaceName } from '../../api/namespace-name.js';

const PLAIN = /^[\w@%+=:,./-]+$/;

/** Returns the text as one word of a POSIX shell. A link or a form can contain text that a shell would run. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns `-n shop`, or `-A` without the name of a namespace. */
export function namespaceFlag(namespace: string | undefined): string {
  return namespace !== undefined && isNamespaceName(namespace) ? `-n ${namespace}` : '-A';
}
