/** Ownership after a write other than apply: the writer owns the fields that it changed (`merge.Updater.Update`). */
import type { KubeObject, ManagedFieldsEntry } from '../../../shared/kube/objects/meta.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import { schemaOf } from '../../kinds/schema/schema-definitions.js';
import { sameJson } from '../encoding/json-value.js';
import type { WriteOptions } from '../registry-options.js';
import { compareFields, withoutFields, writtenFields } from './compare-fields.js';
import {
  capUpdaters,
  decodeManagers,
  encodeManagers,
  type FieldManagers,
  type ManagerName,
  managerKey,
  mapFields,
  NO_MANAGERS,
  setManagedFields,
  storedManagers,
  withManager,
} from './field-managers.js';
import { difference, EMPTY_SET, isEmptySet, union } from './field-set.js';
import { untrackedFields, ZERO_OBJECT } from './untracked-fields.js';

/** The manager for changes that a controller or the hub makes to a tracked object. */
const INTERNAL_MANAGER = 'everynode';

/**
 * Returns the managers after `writer` changed `before` to `after`. The writer takes over the fields that it added or
 * changed, and removed fields lose their owners. `time` is set only if the writer took over a field.
 */
export function managersAfterUpdate(
  kind: Kind,
  before: unknown,
  after: KubeObject,
  managers: FieldManagers,
  writer: ManagerName & { time: string },
): FieldManagers {
  const untracked = untrackedFields(kind, writer.subresource);
  const changes = withoutFields(compareFields(before, after, schemaOf(kind)), untracked);
  const taken = writtenFields(changes);
  const lost = union(taken, changes.removed);
  if (isEmptySet(lost)) return managers;
  const key = managerKey(writer);
  // The writer keeps what it takes: taking it away first would rebuild the set of each map above a changed field.
  const others = mapFields(managers, (manager) =>
    difference(manager.fields, managerKey(manager) === key ? changes.removed : lost),
  );
  if (isEmptySet(taken)) return others;
  const own = others.get(key)?.fields ?? EMPTY_SET;
  return capUpdaters(withManager(others, { ...writer, fields: union(own, taken) }));
}

function writerOf(options: WriteOptions, now: number): ManagerName & { time: string } {
  const { fieldManager = INTERNAL_MANAGER, subresource } = options;
  return {
    manager: fieldManager,
    operation: 'Update',
    time: toTimestamp(now),
    ...(subresource ? { subresource } : {}),
  };
}

/**
 * Sets the managedFields of a new object, in place. Objects of the coordinator's own controllers are not tracked: there
 * is one Pod per node. A later apply to such an object starts from its present fields. The creator owns the fields of
 * `sent`.
 */
export function trackCreation(
  kind: Kind,
  object: KubeObject,
  sent: KubeObject,
  options: WriteOptions,
  now: number,
): void {
  const apiVersion = apiVersionOf(kind);
  const listed = decodeManagers(object.metadata.managedFields, apiVersion) ?? NO_MANAGERS;
  delete object.metadata.managedFields;
  if (options.fieldManager === undefined) return;
  const managers = managersAfterUpdate(kind, ZERO_OBJECT, sent, listed, writerOf(options, now));
  setManagedFields(object, encodeManagers(managers, apiVersion));
}

/**
 * Sets the managedFields of `next`, which replaces `current`, in place. Entries in the body take precedence. An
 * untracked object stays untracked. Status writes of the hub and controllers are not tracked, because that would cost a
 * comparison for every status change of every Pod.
 */
export function trackUpdate(
  kind: Kind,
  next: KubeObject,
  current: KubeObject,
  options: WriteOptions,
  now: number,
): void {
  const stored = current.metadata.managedFields;
  const isOwnStatus = options.fieldManager === undefined && options.subresource === 'status';
  if (isOwnStatus || (!stored && !next.metadata.managedFields)) {
    setManagedFields(next, stored);
    return;
  }
  const managers = managersToStartFrom(kind, next, current, options);
  const isTracked = managers.size > 0;
  const after = isTracked
    ? managersAfterUpdate(kind, current, next, managers, writerOf(options, now))
    : managers;
  setManagedFields(next, encodeManagers(after, apiVersionOf(kind)));
}

/** One empty entry clears the managers. An empty or broken list comes from a client that ignores managedFields. */
function managersToStartFrom(
  kind: Kind,
  { metadata }: KubeObject,
  current: KubeObject,
  { subresource }: WriteOptions,
): FieldManagers {
  const apiVersion = apiVersionOf(kind);
  const sent = subresource ? undefined : metadata.managedFields;
  if (isReset(sent)) return NO_MANAGERS;
  const stored = current.metadata.managedFields;
  const named = sent && !sameJson(sent, stored) ? decodeManagers(sent, apiVersion) : undefined;
  if (named && named.size > 0) return named;
  return storedManagers(stored, apiVersion);
}

function isReset(entries: ManagedFieldsEntry[] | undefined): boolean {
  const [only, ...others] = entries ?? [];
  return only !== undefined && others.length === 0 && Object.keys(only).length === 0;
}
