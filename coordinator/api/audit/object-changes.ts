/** The changed fields of a write, of limited size and without confidential values. Pure. */
import {
  type FieldChange,
  NOT_RECORDED,
  type RecordedChanges,
} from '../../../shared/kube/access/audit-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { isJsonMap, sameJson } from '../../registry/encoding/json-value.js';
import { decidingName, isConfidential, MAX_DEPTH, withoutConfidential } from './confidential-values.js';

/** Limit of all fields of a write, as JSON. */
const MAX_BYTES = 4_096;
/** A larger map is split into its fields. */
const MAX_VALUE_BYTES = 1_024;
/** Later fields of a large object are not compared. */
const MAX_FIELDS = 500;
/** Characters of values, as JSON, that are searched for confidential words. A write may have 3 MiB. */
const MAX_SEARCHED = 2 ** 20;

/** Set by the server in each write, or a copy of the whole object. */
const SKIPPED: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'status',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'metadata.generation',
  'metadata.generateName',
  'metadata.resourceVersion',
  'metadata.creationTimestamp',
  'metadata.managedFields',
  'metadata.selfLink',
  'metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]',
  'metadata.annotations[deprecated.daemonset.template.generation]',
]);

/** Maps and lists whose members are compared one by one, also if the whole value is new. */
const ALWAYS_SPLIT: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'data',
  'stringData',
  'spec',
  'spec.requests',
]);

/** An object that a write has stored. `before` is absent for a create. */
export interface ObjectChange {
  /** Of `secrets` of the core group only the names of fields are recorded: annotations can contain the manifest. */
  isSecret: boolean;
  before?: KubeObject | undefined;
  after: KubeObject;
}

/** Returns the changed fields, or undefined if nothing has changed that the log records. */
export function recordedChanges({ isSecret, before, after }: ObjectChange): RecordedChanges | undefined {
  const fields: FieldChange[] = [];
  let omitted = 0;
  let bytes = 0;
  // A creation lists the members of its metadata one by one, because most of them are the server's.
  const start = before ?? { metadata: {} };
  let searched = 0;
  for (const found of changedFields({ path: '', name: '', isSecret, depth: 0 }, start, after)) {
    const searchable = sizeOf(found.before) + sizeOf(found.after);
    const isSearched = searched + searchable <= MAX_SEARCHED;
    if (isSearched) searched += searchable;
    const change = fieldChange(found, isSearched);
    const size = Buffer.byteLength(JSON.stringify(change));
    if (bytes + size > MAX_BYTES) omitted += 1;
    else {
      bytes += size;
      fields.push(change);
    }
    if (fields.length + omitted >= MAX_FIELDS) break;
  }
  return fields.length + omitted === 0 ? undefined : { fields, omitted };
}

interface Place {
  path: string;
  /** The name of the field, or of the variable that has the value. */
  name: string;
  isSecret: boolean;
  depth: number;
}

interface ChangedField {
  place: Place;
  before: unknown;
  after: unknown;
}

function* changedFields(place: Place, before: unknown, after: unknown): Generator<ChangedField> {
  if (SKIPPED.has(place.path)) return;
  // What is below a confidential name is compared as a whole: the names below it would not be recognised.
  const isWhole = place.depth > MAX_DEPTH || isConfidential(place.name);
  if (!isWhole && isSplit(place.path, before, after)) {
    yield* changedMembers(place, mapOf(before), mapOf(after));
    return;
  }
  const absent: Record<string, unknown> | undefined = ALWAYS_SPLIT.has(place.path) ? {} : undefined;
  const old = before === undefined ? absent : byName(before);
  const next = after === undefined ? absent : byName(after);
  if (!isWhole && old && next) {
    for (const name of keysOf(old, next)) {
      const item = { ...place, path: `${place.path}[${name}]`, depth: place.depth + 1 };
      yield* changedFields(item, old[name], next[name]);
    }
    return;
  }
  if (sameJson(before, after)) return;
  yield { place, before, after };
}

/** True if the members are compared. A map that is added or removed as a whole is split only if it is large. */
function isSplit(path: string, before: unknown, after: unknown): boolean {
  if (isJsonMap(before) && isJsonMap(after)) return true;
  if (!isJsonMap(before ?? after)) return false;
  return ALWAYS_SPLIT.has(path) || sizeOf(before ?? after) > MAX_VALUE_BYTES;
}

function mapOf(value: unknown): Record<string, unknown> {
  return isJsonMap(value) ? value : {};
}

function* changedMembers(
  place: Place,
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Generator<ChangedField> {
  for (const key of keysOf(before, after)) {
    const [old, next] = [ownOf(before, key), ownOf(after, key)];
    // First, because the path and the name of each member of a large map cost more than its comparison.
    if (sameJson(old, next)) continue;
    const member = {
      ...place,
      path: memberPath(place.path, key),
      name: decidingNameOf([after, before], key, place.name),
      depth: place.depth + 1,
    };
    yield* changedFields(member, old, next);
  }
}

/** A name is confidential if it is so in one of both objects. */
function decidingNameOf(maps: Record<string, unknown>[], key: string, parent: string): string {
  const names = maps.filter((map) => Object.hasOwn(map, key)).map((map) => decidingName(map, key, parent));
  return names.find(isConfidential) ?? names[0] ?? key;
}

/** Hides the values of a field that is not searched. */
function fieldChange({ place, before, after }: ChangedField, isSearched: boolean): FieldChange {
  const { path, name, isSecret } = place;
  const isHidden = isSecret || !isSearched;
  const shown = (value: unknown) => (isHidden ? NOT_RECORDED : shortened(withoutConfidential(value, name)));
  return {
    path,
    ...(before === undefined ? {} : { before: shown(before) }),
    ...(after === undefined ? {} : { after: shown(after) }),
  };
}

/** A value that alone would fill the entry becomes the start of its JSON text. */
function shortened(value: unknown): unknown {
  const text = JSON.stringify(value) ?? '';
  return text.length > MAX_VALUE_BYTES ? `${text.slice(0, MAX_VALUE_BYTES / 2)}…` : value;
}

function sizeOf(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}

/** Returns a list of objects by their unique names or ids, such as containers and requests. Otherwise undefined. */
function byName(list: unknown): Record<string, unknown> | undefined {
  if (!Array.isArray(list)) return undefined;
  const found: Record<string, unknown> = Object.create(null);
  for (const item of list) {
    const name = isJsonMap(item) ? (item.name ?? item.id) : undefined;
    if ((typeof name !== 'string' && typeof name !== 'number') || Object.hasOwn(found, name))
      return undefined;
    found[name] = item;
  }
  return found;
}

function ownOf(map: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** The keys of `after`, then those that only `before` has. */
function keysOf(before: object, after: object): string[] {
  return [...Object.keys(after), ...Object.keys(before).filter((key) => !Object.hasOwn(after, key))];
}

/** Returns `metadata.labels[a.b/c]` for a key that is no identifier, as in field paths of Kubernetes. */
function memberPath(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}
