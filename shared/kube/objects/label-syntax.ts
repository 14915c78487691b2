/** What may be a label's key and value (k8s.io/apimachinery util/validation). */

const NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** True for `name` or `dns.prefix/name`: a name of at most 63 characters, a prefix of at most 253 (IsQualifiedName). */
export function isLabelKey(key: string): boolean {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2 || name.length > 63 || !NAME.test(name)) return false;
  const prefix = parts.length === 2 ? parts[0] : undefined;
  return prefix === undefined || isSubdomain(prefix);
}

/** True for what most objects, nodes among them, may be called (IsDNS1123Subdomain). */
export function isSubdomain(name: string): boolean {
  return name.length <= 253 && SUBDOMAIN.test(name);
}

/** True for the empty string or at most 63 characters of a label value (IsValidLabelValue). */
export function isLabelValue(value: string): boolean {
  return value === '' || (value.length <= 63 && NAME.test(value));
}
