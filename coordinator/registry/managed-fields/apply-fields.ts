/** Server-side apply as a function of plain data (`merge.Updater.Apply`). */

import type { Kind } from '../../kinds/kind.js';
import type { Schema } from '../../kinds/schema/schema-definitions.js';
import { schemaOf } from '../../kinds/schema/schema-definitions.js';
import type { JsonMap } from '../encoding/json-value.js';
import { compareFields, withoutFields, writtenFields } from './compare-fields.js';
import {
  type FieldManagers,
  type ManagerName,
  managerKey,
  mapFields,
  withManager,
} from './field-managers.js';
import {
  difference,
  EMPTY_SET,
  type FieldSet,
  intersection,
  isEmptySet,
  outside,
  union,
} from './field-set.js';
import { mergeApplied } from './merge-applied.js';
import { fieldSetOf, withNamedFields } from './object-field-set.js';
import { removeFields } from './remove-fields.js';
import { METADATA_ITSELF, untrackedFields } from './untracked-fields.js';

/** Fields of another manager that the manifest sets to other values. */
export interface ApplyConflict {
  owner: ManagerName;
  fields: FieldSet;
}

export interface Applied {
  /** Without defaults; shares parts with the live object and the manifest. */
  object: JsonMap;
  /** The managers after a forced apply. */
  managers: FieldManagers;
  /** Sorted by owner. If empty, the apply needs no force. */
  conflicts: ApplyConflict[];
}

/** Returns the fields that the applier of a manifest owns afterwards. */
export function appliedFields(kind: Kind, manifest: JsonMap, subresource: string | undefined): FieldSet {
  const named = difference(fieldSetOf(manifest, schemaOf(kind)), METADATA_ITSELF);
  return outside(named, untrackedFields(kind, subresource));
}

/**
 * Merges `manifest` into `live` for `applier`. Fields that the applier owned before and that no manager owns now are
 * removed. Returns the managers that would lose fields as conflicts. Equal values are co-owned. The applier's entry
 * keeps its time.
 */
export function applyFields(
  kind: Kind,
  live: JsonMap,
  manifest: JsonMap,
  managers: FieldManagers,
  applier: ManagerName,
): Applied {
  const schema = schemaOf(kind);
  const key = managerKey(applier);
  const last = managers.get(key);
  const fields = appliedFields(kind, manifest, applier.subresource);
  const claimed = withManager(managers, { ...last, ...applier, fields });
  const object = prune(
    mergeApplied(live, manifest, schema),
    last?.fields ?? EMPTY_SET,
    claimed,
    schema,
  ) as JsonMap;
  const untracked = untrackedFields(kind, applier.subresource);
  const changes = withoutFields(compareFields(live, object, schema), untracked);
  const taken = writtenFields(changes);
  const others = [...claimed].filter(([name]) => name !== key).sort(([a], [b]) => (a < b ? -1 : 1));
  const conflicts = others.flatMap(([, owner]): ApplyConflict[] => {
    const contested = intersection(owner.fields, taken);
    return isEmptySet(contested) ? [] : [{ owner, fields: contested }];
  });
  const after = mapFields(claimed, (manager) =>
    managerKey(manager) === key
      ? manager.fields
      : difference(difference(manager.fields, taken), changes.removed),
  );
  return { object, managers: after, conflicts };
}

/**
 * Removes from `merged` the fields in `last` (the applier's previous fields) that no manager owns now. `managers`
 * contains the applier's new fields. Items and structs are removed as a whole, including unowned fields in them.
 */
export function prune(merged: unknown, last: FieldSet, managers: FieldManagers, schema: Schema): unknown {
  const owned = [...managers.values()].map(({ fields }) => fields).reduce(union, EMPTY_SET);
  if (isEmptySet(difference(last, owned))) return merged;
  const setOf = (value: unknown) => withNamedFields(fieldSetOf(value ?? {}, schema), schema);
  const removable = withNamedFields(last, schema);
  const all = setOf(merged);
  const kept = union(setOf(removeFields(merged, removable, schema)), withNamedFields(owned, schema));
  // Keeping an owned item restores its parents. In the end only the applier's previous fields may be missing.
  const left = setOf(removeFields(merged, difference(all, kept), schema));
  return removeFields(merged, intersection(difference(all, left), removable), schema);
}
