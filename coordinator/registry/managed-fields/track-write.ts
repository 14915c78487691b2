/** Ownership after a write that is no apply: who changes a field owns it (`merge.Updater.Update`). */
import type { KubeObject, ManagedFieldsEntry } from '../../../shared/kube/objects/meta.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import { definitionOf } from '../../kinds/schema/schema-definitions.js';
import type { WriteOptions } from '../registry.js';
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
  withManager,
} from './field-managers.js';
import { difference, EMPTY_SET, isEmptySet, union } from './field-set.js';
import { untrackedFields, ZERO_OBJECT } from './untracked-fields.js';

/** Who a change is put down to that a controller or the hub makes to what somebody else tracks. */
const INTERNAL_MANAGER = 'everynode';

/**
 * The managers after `writer` made `after` out of `before`: it takes what it added and changed from the others,
 * and what is gone is nobody's. `time` is put on its entry only when it took something.
 */
export function managersAfterUpdate(
  kind: Kind,
  before: unknown,
  after: KubeObject,
  managers: FieldManagers,
  writer: ManagerName & { time: string },
): FieldManagers {
  const untracked = untrackedFields(kind, writer.subresource);
  const changes = withoutFields(compareFields(before, after, definitionOf(kind.schema)), untracked);
  const taken = writtenFields(changes);
  const lost = union(taken, changes.removed);
  if (isEmptySet(lost)) return managers;
  const others = mapFields(managers, ({ fields }) => difference(fields, lost));
  if (isEmptySet(taken)) return others;
  const own = others.get(managerKey(writer))?.fields ?? EMPTY_SET;
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
 * Gives a new object its managedFields, in place. Objects that our own controllers make are not tracked:
 * there are a Pod a node of them, and whoever applies to one later starts from what is there.
 */
export function trackCreation(kind: Kind, object: KubeObject, options: WriteOptions, now: number): void {
  const apiVersion = apiVersionOf(kind);
  const sent = decodeManagers(object.metadata.managedFields, apiVersion) ?? NO_MANAGERS;
  delete object.metadata.managedFields;
  if (options.fieldManager === undefined) return;
  const managers = managersAfterUpdate(kind, ZERO_OBJECT, object, sent, writerOf(options, now));
  setManagedFields(object, encodeManagers(managers, apiVersion));
}

/**
 * Gives `next`, which is about to replace `current`, its managedFields, in place. What the body says of them counts
 * where it says something. An object that nobody tracks stays so, and status that our own hub and controllers write
 * is not tracked: it would cost a comparison for every Pod's every change, and nobody else writes it.
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

/** A list of one empty entry clears; an empty or broken list is taken for a client that knows nothing of it. */
function managersToStartFrom(
  kind: Kind,
  { metadata }: KubeObject,
  current: KubeObject,
  { subresource }: WriteOptions,
): FieldManagers {
  const apiVersion = apiVersionOf(kind);
  const sent = subresource ? undefined : metadata.managedFields;
  if (isReset(sent)) return NO_MANAGERS;
  const named = sent && decodeManagers(sent, apiVersion);
  if (named && named.size > 0) return named;
  return decodeManagers(current.metadata.managedFields, apiVersion) ?? NO_MANAGERS;
}

function isReset(entries: ManagedFieldsEntry[] | undefined): boolean {
  const [only, ...others] = entries ?? [];
  return only !== undefined && others.length === 0 && Object.keys(only).length === 0;
}
