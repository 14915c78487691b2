/** What an applier stops naming goes from the object, unless somebody else owns it (`merge.Updater.prune`). */
import type { Schema } from '../../kinds/schema/schema-definitions.js';
import type { FieldManagers } from './field-managers.js';
import { difference, EMPTY_SET, type FieldSet, intersection, isEmptySet, union } from './field-set.js';
import { fieldSetOf, withNamedFields } from './object-field-set.js';
import { removeFields } from './remove-fields.js';

/**
 * `merged` without what is in `last`, the applier's fields before, and in nobody's set now; `managers` has its new
 * ones. Removal goes by whole items and structs, so what lies in them unowned goes too.
 */
export function prune(merged: unknown, last: FieldSet, managers: FieldManagers, schema: Schema): unknown {
  const owned = [...managers.values()].map(({ fields }) => fields).reduce(union, EMPTY_SET);
  if (isEmptySet(difference(last, owned))) return merged;
  const setOf = (value: unknown) => withNamedFields(fieldSetOf(value ?? {}, schema), schema);
  const removable = withNamedFields(last, schema);
  const all = setOf(merged);
  const kept = union(setOf(removeFields(merged, removable, schema)), withNamedFields(owned, schema));
  // An owned item brings back what holds it, and only what the applier had may go in the end.
  const left = setOf(removeFields(merged, difference(all, kept), schema));
  return removeFields(merged, intersection(difference(all, left), removable), schema);
}
