/**
 * Removes confidential values from what the audit log records. Strict: an unclear value is hidden as a whole, because a
 * part that was cut out wrongly leaves the rest of a password in the log. Pure.
 */
import { NOT_RECORDED } from '../../../shared/kube/access/audit-types.js';
import { isJsonMap } from '../../registry/encoding/json-value.js';

/** Found anywhere in a name or text. */
const WORDS =
  /pass(?:word|wd|phrase|code|key)|secret|token|credential|authorization|bearer|cookie|kubeconfig/i;
/** Found at the end of a word: `smtppass`, `TS_AUTHKEY`, `tls.key`, but not `bypass`, `keys` and `author`. */
const ENDINGS = /(?:(?<!by|com|tres)pass|pwd|psk|auth|(?<!mon|tur|don)key)(?![a-z])/i;
/** Found as a whole word. */
const WHOLE_WORDS = /(?<![a-z])(?:jwt|dsn|creds?)(?![a-z])/i;
/** Annotations that contain the whole object as text, with all its variables. */
const COPIES = /last-applied-configuration$|^kapp\.k14s\.io\/original/;
const CAMEL_CASE = /([a-z0-9])([A-Z])/g;
const BASIC_HEADER = /\bbasic\s+[\w.~+/=-]{8,}/i;
/**
 * An option whose value is often a password: `mysql -phunter2`, `curl -u ann:hunter2`, and each group of letters with a `p`
 * or `u`, such as `-fsSu`. Harmless options, such as `-port=80` and `mkdir -p`, match too: a text with one is hidden.
 */
const SHORT_OPTION = '(?:-[A-Za-z0-9#]{0,8}[puU]|--(?:proxy-)?user)';
const HAS_SHORT_OPTION = new RegExp(`(?<![^\\s"'=([;|&<>\`,])${SHORT_OPTION}(?=.)`, 's');
const IS_SHORT_OPTION = new RegExp(`^${SHORT_OPTION}$`);

/** Fields of Kubernetes whose names match, and whose values are names or numbers. */
const HARMLESS: ReadonlySet<string> = new Set([
  'keyPath',
  'keyType',
  'kubeletConfigKey',
  'secretName',
  'secretNamespace',
  'tokenExpirationSeconds',
  'tokenId',
  'tokenReview',
  'topologyKey',
]);
/** Fields with names of objects, resources and files. A plain name is shown, although it contains such a word. */
const NAME_FIELDS: ReadonlySet<string> = new Set([
  ...HARMLESS,
  ...['name', 'namespace', 'kind', 'apiVersion', 'apiGroup', 'apiGroups', 'resource', 'resources', 'verbs'],
  ...['resourceNames', 'serviceAccountName', 'image', 'mountPath', 'subPath', 'path', 'fieldPath'],
]);
const PLAIN_NAME = /^[\w./-]{0,253}$/;
const PLAIN_IMAGE = /^[\w./:@-]{0,512}$/;

/** A map with these fields only refers to a value and does not contain it. */
const REFERENCES: ReadonlySet<string> = new Set([
  ...['valueFrom', 'secretKeyRef', 'configMapKeyRef', 'fileKeyRef', 'secretRef', 'configMapRef', 'fieldRef'],
  'items',
]);
const REFERENCE_FIELDS: ReadonlySet<string> = new Set([
  ...['name', 'namespace', 'key', 'optional', 'secretName', 'path', 'fieldPath', 'volumeName'],
  ...['apiVersion', 'kind', 'group', 'mode', 'defaultMode', 'audience', 'expirationSeconds'],
]);
/** A `key` next to one of these fields, or in one of these lists, is a name. Elsewhere it can be a key of a cipher. */
const BESIDE_KEY = ['name', 'secretName', 'path', 'operator', 'effect'];
const LISTS_OF_KEYS: ReadonlySet<string> = new Set(['taints', 'tolerations', 'matchExpressions', 'items']);
/** Fields whose value belongs to the `name` or `key` next to it, as in `{ name: PASSWORD, value: x }`. */
const VALUE_FIELDS: ReadonlySet<string> = new Set([
  ...['value', 'default', 'content', 'data', 'inline', 'literal', 'text', 'raw'],
]);

/** Longer texts are hidden without a search, so that a write of one megabyte costs no time. */
const MAX_SEARCHED = 16_384;
const MAX_TEXT = 256;
/** Deeper values of a custom resource could exceed the stack, after the write has succeeded. */
export const MAX_DEPTH = 40;

/** True if the value of a field with this name is confidential. */
export function isConfidential(name: string): boolean {
  return !HARMLESS.has(name) && (mentionsConfidential(name) || COPIES.test(name));
}

function mentionsConfidential(text: string): boolean {
  if (text.length > MAX_SEARCHED || WORDS.test(text)) return true;
  const words = text.replace(CAMEL_CASE, '$1_$2');
  return ENDINGS.test(words) || WHOLE_WORDS.test(words);
}

/** Returns the name that decides whether the value of a map's field is confidential. `parent` has the map. */
export function decidingName(map: Record<string, unknown>, key: string, parent: string): string {
  if (VALUE_FIELDS.has(key)) {
    const named = [map.name, map.key].find((name) => typeof name === 'string' && isConfidential(name));
    return typeof named === 'string' ? named : key;
  }
  const isName = LISTS_OF_KEYS.has(parent) || BESIDE_KEY.some((field) => map[field] !== undefined);
  return key === 'key' && isName ? 'name' : key;
}

/**
 * Returns a copy without confidential values and with cut texts. `name` is the name of the field or variable that has
 * the value.
 */
export function withoutConfidential(value: unknown, name = '', depth = 0): unknown {
  if (depth > MAX_DEPTH) return NOT_RECORDED;
  if (value === undefined || value === null || typeof value === 'boolean') return value;
  if (isConfidential(name)) return isReference(value, depth) ? value : NOT_RECORDED;
  if (Array.isArray(value)) {
    const deciding = (index: number) => (NAME_FIELDS.has(name) ? name : (flagOf(value[index - 1]) ?? name));
    return value.map((item, index) =>
      isShortOption(value[index - 1]) ? NOT_RECORDED : withoutConfidential(item, deciding(index), depth + 1),
    );
  }
  if (isJsonMap(value)) {
    const members = Object.entries(value).map(([key, member]) => [
      key,
      withoutConfidential(member, decidingName(value, key, name), depth + 1),
    ]);
    return Object.fromEntries(members);
  }
  return typeof value === 'string' ? textWithoutConfidential(value, name) : value;
}

/** True for `{ secretName: db }` and `{ valueFrom: { secretKeyRef: { name: db, key: word } } }`, also in a list. */
function isReference(value: unknown, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isJsonMap(item) && isReference(item, depth + 1));
  if (!isJsonMap(value)) return false;
  const isCipherKey = value.key !== undefined && !BESIDE_KEY.some((field) => value[field] !== undefined);
  return (
    !isCipherKey && Object.entries(value).every(([key, member]) => isPartOfReference(key, member, depth))
  );
}

function isPartOfReference(key: string, member: unknown, depth: number): boolean {
  if (REFERENCES.has(key)) return isReference(member, depth + 1);
  if (!REFERENCE_FIELDS.has(key)) return false;
  return typeof member === 'string' ? PLAIN_NAME.test(member) : typeof member !== 'object';
}

/** A flag and its value can be two items: `--password x`. Returns a flag whose value is confidential. */
function flagOf(item: unknown): string | undefined {
  return typeof item === 'string' && /^-{0,2}[\w.-]+$/.test(item) && isConfidential(item) ? item : undefined;
}

/** The next item of a list of arguments is the option's value: `-p`, `hunter2`. */
function isShortOption(item: unknown): boolean {
  return typeof item === 'string' && IS_SHORT_OPTION.test(item);
}

function textWithoutConfidential(text: string, name: string): string {
  const plain = name === 'image' ? PLAIN_IMAGE : PLAIN_NAME;
  const isName = NAME_FIELDS.has(name) && plain.test(text);
  if (!isName && mentionsConfidential(text)) return NOT_RECORDED;
  if (hasUserInfo(text) || BASIC_HEADER.test(text) || HAS_SHORT_OPTION.test(text)) return NOT_RECORDED;
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** True for `postgres://u:p/ss@host` and `u:p@host`. An image with a digest, `till:1@sha256:…`, has none. */
function hasUserInfo(text: string): boolean {
  const searched = text.replaceAll(/@sha(?:256|512):/g, ' ');
  const address = searched.indexOf('://');
  if (address >= 0 && searched.includes('@', address)) return true;
  return searched.split(/\s+/).some((word) => {
    const colon = word.indexOf(':');
    return colon >= 0 && word.includes('@', colon);
  });
}
