/** Namespaces in which a user with limited rights may see something. Pure. */

/** Each candidate costs a review. */
const MAX_CANDIDATES = 50;
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):/;

interface KnownNamespaces {
  /** Namespaces that the user selected before, the last one first. */
  stored: readonly string[];
  /** All namespaces, if the user may list them. */
  listed: readonly string[];
  user: string;
}

/** Returns candidates, the most likely first: selected before, of the ServiceAccount, `default`, all others. */
export function candidateNamespaces({ stored, listed, user }: KnownNamespaces): string[] {
  const [, own] = SERVICE_ACCOUNT.exec(user) ?? [];
  const all = [...stored, ...(own === undefined ? [] : [own]), 'default', ...listed];
  return [...new Set(all)].slice(0, MAX_CANDIDATES);
}
