/** The owners of an object's fields: metadata.managedFields, decoded (`managedfields/internal/managedfields.go`). */
import type { KubeObject, ManagedFieldsEntry, Timestamp } from '../../../shared/kube/objects/meta.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';
import { type FieldSet, isEmptySet, union } from './field-set.js';
import { decodeFieldsV1, encodeFieldsV1, storedFieldsV1 } from './fields-v1.js';

export type Operation = 'Apply' | 'Update';

/** Identifies a manager. The same program counts as another manager for another operation or subresource. */
export interface ManagerName {
  manager: string;
  operation: Operation;
  subresource?: string;
}

export interface FieldManager extends ManagerName {
  fields: FieldSet;
  /** The time of the manager's last change. */
  time?: Timestamp;
}

/** Managers by `managerKey`. */
export type FieldManagers = ReadonlyMap<string, FieldManager>;

export const NO_MANAGERS: FieldManagers = new Map();

/** Returns a unique key of a manager. Conflicts are sorted by it. */
export function managerKey({ manager, operation, subresource }: ManagerName): string {
  return JSON.stringify([manager, operation, subresource ?? '']);
}

/**
 * Decodes the entries, or returns undefined for a malformed list. Entries of another version of the kind are dropped,
 * because their paths have an unknown meaning.
 */
export function decodeManagers(entries: unknown, apiVersion: string): FieldManagers | undefined {
  if (entries === undefined) return NO_MANAGERS;
  if (!Array.isArray(entries)) return undefined;
  const managers = new Map<string, FieldManager>();
  for (const entry of entries) {
    const decoded = decodeEntry(entry);
    if (!decoded) return undefined;
    if (entry.apiVersion === apiVersion) managers.set(managerKey(decoded), decoded);
  }
  return managers;
}

/** Returns the managers of a stored object. Its entries were encoded here, so they are decoded only where needed. */
export function storedManagers(
  entries: readonly ManagedFieldsEntry[] | undefined,
  apiVersion: string,
): FieldManagers {
  const managers = new Map<string, FieldManager>();
  for (const entry of entries ?? []) {
    const { manager = '', operation, subresource, time, fieldsV1 = {} } = entry;
    if (entry.apiVersion !== apiVersion || !isOperation(operation)) continue;
    const fields = storedFieldsV1(fieldsV1 as JsonMap);
    const name = { manager, operation, ...(subresource ? { subresource } : {}) };
    managers.set(managerKey(name), { ...name, fields, ...(time ? { time } : {}) });
  }
  return managers;
}

function decodeEntry(entry: unknown): FieldManager | undefined {
  if (!isJsonMap(entry) || entry.fieldsType !== 'FieldsV1') return undefined;
  const { manager = '', operation, subresource, time } = entry as ManagedFieldsEntry;
  const fields = decodeFieldsV1(entry.fieldsV1 ?? {});
  if (!fields || !isOperation(operation)) return undefined;
  return { manager, operation, fields, ...(subresource ? { subresource } : {}), ...(time ? { time } : {}) };
}

function isOperation(text: string | undefined): text is Operation {
  return text === 'Apply' || text === 'Update';
}

/** Returns the entries to store: appliers first, each group by time. Returns undefined if no manager owns any field. */
export function encodeManagers(
  managers: FieldManagers,
  apiVersion: string,
): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()]
    .sort(compareManagers)
    .map(({ manager, operation, fields, time, subresource }) => ({
      manager,
      operation,
      apiVersion,
      ...(time ? { time } : {}),
      fieldsType: 'FieldsV1',
      fieldsV1: encodeFieldsV1(fields),
      ...(subresource ? { subresource } : {}),
    }));
}

/** Sets or removes managedFields, in place. */
export function setManagedFields(object: KubeObject, entries: ManagedFieldsEntry[] | undefined): void {
  if (entries) object.metadata.managedFields = entries;
  else delete object.metadata.managedFields;
}

function compareManagers(a: FieldManager, b: FieldManager): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTexts(a.time ?? '', b.time ?? '') ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.subresource ?? '', b.subresource ?? '')
  );
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Applies `change` to the fields of each manager and drops managers without fields. */
export function mapFields(
  managers: FieldManagers,
  change: (manager: FieldManager) => FieldSet,
): FieldManagers {
  const changed = new Map<string, FieldManager>();
  for (const [key, manager] of managers) {
    const fields = change(manager);
    if (!isEmptySet(fields)) changed.set(key, { ...manager, fields });
  }
  return changed;
}

/** Returns the managers with `manager` replaced or added, or removed if it owns no fields. */
export function withManager(managers: FieldManagers, manager: FieldManager): FieldManagers {
  const changed = new Map(managers);
  if (isEmptySet(manager.fields)) changed.delete(managerKey(manager));
  else changed.set(managerKey(manager), manager);
  return changed;
}

/** At most this many updaters are stored separately; the oldest are merged (`DefaultMaxUpdateManagers`). */
const MAX_UPDATERS = 10;
const ANCIENT: ManagerName = { manager: 'ancient-changes', operation: 'Update' };

/** Merges the oldest updaters into one, so that repeated writes cannot grow an object without limit. */
export function capUpdaters(managers: FieldManagers): FieldManagers {
  const updaters = [...managers.values()].filter(({ operation }) => operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return managers;
  const oldest = updaters.sort(compareManagers).slice(0, updaters.length - MAX_UPDATERS + 1);
  const fields = oldest.map((manager) => manager.fields).reduce(union);
  const time = oldest.at(-1)?.time;
  const capped = new Map(managers);
  for (const manager of oldest) capped.delete(managerKey(manager));
  return withManager(capped, { ...ANCIENT, fields, ...(time ? { time } : {}) });
}
