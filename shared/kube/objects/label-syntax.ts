/** Labels: syntax of keys and values (k8s.io/apimachinery util/validation), and safe lookups. */

const NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Returns true for `name` (at most 63 characters) or `dns.prefix/name` (prefix at most 253) (IsQualifiedName). */
export function isLabelKey(key: string): boolean {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2 || name.length > 63 || !NAME.test(name)) return false;
  const prefix = parts.length === 2 ? parts[0] : undefined;
  return prefix === undefined || isSubdomain(prefix);
}

/** Returns true for a valid name of most kinds, Nodes included (IsDNS1123Subdomain). */
export function isSubdomain(name: string): boolean {
  return name.length <= 253 && SUBDOMAIN.test(name);
}

/** Returns true for a valid label value: empty, or at most 63 characters (IsValidLabelValue). */
export function isLabelValue(value: string): boolean {
  return value === '' || (value.length <= 63 && NAME.test(value));
}

/**
 * Returns the value of the map's own key, for maps with untrusted keys. Plain objects inherit keys: without this check
 * `labels['constructor']` is a function even if no such label exists.
 */
export function ownValue<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
