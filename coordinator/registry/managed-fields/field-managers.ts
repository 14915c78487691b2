/** Who owns which fields of one object: metadata.managedFields, decoded (`managedfields/internal/managedfields.go`). */
import type { KubeObject, ManagedFieldsEntry, Timestamp } from '../../../shared/kube/objects/meta.js';
import { isJsonMap } from '../encoding/json-value.js';
import { type FieldSet, isEmptySet, union } from './field-set.js';
import { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.js';

export type Operation = 'Apply' | 'Update';

/** Who writes. The same program applying and updating, or writing to another subresource, is another manager. */
export interface ManagerName {
  manager: string;
  operation: Operation;
  subresource?: string;
}

export interface FieldManager extends ManagerName {
  fields: FieldSet;
  /** Of its last change. */
  time?: Timestamp;
}

/** By `managerKey`. */
export type FieldManagers = ReadonlyMap<string, FieldManager>;

export const NO_MANAGERS: FieldManagers = new Map();

/** Text that tells managers apart, and the order in which conflicts name them. */
export function managerKey({ manager, operation, subresource }: ManagerName): string {
  return JSON.stringify([manager, operation, subresource ?? '']);
}

/**
 * What the entries say; undefined for a list that breaks the format. Entries of another version of the kind are
 * left out: nothing here could tell what their paths mean.
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

/** The entries to store, appliers first, each by age; undefined when nobody owns anything. */
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

/** Puts the entries into the object, in place. */
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

/** Each manager's fields changed by `change`; one that is left without any is dropped. */
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

/** The managers with `manager` in place of the one of its name; without it when it owns nothing. */
export function withManager(managers: FieldManagers, manager: FieldManager): FieldManagers {
  const changed = new Map(managers);
  if (isEmptySet(manager.fields)) changed.delete(managerKey(manager));
  else changed.set(managerKey(manager), manager);
  return changed;
}

/** Updaters kept apart; of more, the oldest are told together (`DefaultMaxUpdateManagers`). */
const MAX_UPDATERS = 10;
const ANCIENT: ManagerName = { manager: 'ancient-changes', operation: 'Update' };

/** The managers with the oldest updaters merged into one, so that an object cannot grow by being written to. */
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
