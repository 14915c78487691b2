/** Removes confidential values from what the audit log records. Pure. */
import { NOT_RECORDED } from '../../../shared/kube/access/audit-types.js';
import { isJsonMap } from '../../registry/encoding/json-value.js';

/** Names of fields, variables, keys and flags whose values are confidential. */
const CONFIDENTIAL =
  /pass(word|wd|phrase)|\bpass\b|_pass$|secret|token|credential|authorization|(private|api|access|signing|encryption)[-_. ]?key/i;
/** Contains the whole object as text, with all its variables. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** Fields of Kubernetes whose names match, and whose values are names or numbers. */
const HARMLESS: ReadonlySet<string> = new Set([
  'secretName',
  'tokenExpirationSeconds',
  'tokenId',
  'tokenRequests',
]);
const NAME_IN_TEXT =
  'pass(?:word|wd|phrase)|secret|token|credential|(?:private|api|access|signing|encryption)[-_]?key';
/**
 * `db_password = x` within a text, such as a configuration file or an argument. It begins at the start of a word only:
 * otherwise a long word is searched from each of its letters.
 */
const IN_TEXT = new RegExp(
  `(?<![\\w.-])(?=[\\w.-]*?(?:${NAME_IN_TEXT}))([\\w.-]+["']?\\s*[:=]\\s*)(?:"[^"]*"|'[^']*'|[^\\s,;]+)`,
  'gi',
);
const IN_URL = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi;
const IN_HEADER = /\b((?:bearer|basic)\s+)[\w.~+/=-]{8,}/gi;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
/** Longer texts are cut before they are searched, so that a write of one megabyte costs no time. */
const MAX_SEARCHED = 512;
const MAX_TEXT = 256;
/** Deeper values of a custom resource could exceed the stack, after the write has succeeded. */
export const MAX_DEPTH = 40;

/** True if the value of a field with this name is confidential. */
export function isConfidential(name: string): boolean {
  return name === LAST_APPLIED || (CONFIDENTIAL.test(name) && !HARMLESS.has(name));
}

/**
 * Returns a copy without confidential values and with cut texts. `name` is the name of the field or variable that has
 * the value.
 */
export function withoutConfidential(value: unknown, name = '', depth = 0): unknown {
  if (depth > MAX_DEPTH) return NOT_RECORDED;
  if (Array.isArray(value))
    return value.map((item, index) => withoutConfidential(item, flagOf(value[index - 1]) ?? name, depth + 1));
  if (isJsonMap(value)) return mapWithoutConfidential(value, depth + 1);
  if (value === undefined || value === null || typeof value === 'boolean') return value;
  if (isConfidential(name)) return NOT_RECORDED;
  return typeof value === 'string' ? textWithoutConfidential(value) : value;
}

function mapWithoutConfidential(map: Record<string, unknown>, depth: number): unknown {
  // A variable `{ name, value }` has its name in another field.
  const named = typeof map.name === 'string' ? map.name : '';
  return Object.fromEntries(
    Object.entries(map).map(([key, value]) => [
      key,
      withoutConfidential(value, key === 'value' ? named : key, depth),
    ]),
  );
}

/** A flag and its value can be two items: `--password x`. Returns a flag whose value is confidential. */
function flagOf(item: unknown): string | undefined {
  return typeof item === 'string' && /^--?[\w-]+$/.test(item) && isConfidential(item) ? item : undefined;
}

function textWithoutConfidential(text: string): string {
  if (PRIVATE_KEY.test(text)) return NOT_RECORDED;
  const shown = text
    .slice(0, MAX_SEARCHED)
    .replace(IN_TEXT, `$1${NOT_RECORDED}`)
    .replace(IN_URL, `$1${NOT_RECORDED}@`)
    .replace(IN_HEADER, `$1${NOT_RECORDED}`);
  return shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT)}…` : shown;
}
