/** Decides which overrides win on a node. */
import { isSameValue, type OverrideField } from './override-fields.js';

/** An override that selects the node. */
export interface NodeOverride {
  name: string;
  priority: number;
  fields: readonly OverrideField[];
}

/** A field, and the name of the override that sets it. */
export type OverriddenField = OverrideField & { from: string };

type OverrideResolution =
  | { kind: 'resolved'; fields: readonly OverriddenField[] }
  | { kind: 'refused'; message: string };

interface Winner {
  priority: number;
  field: OverriddenField;
}

/**
 * For each field the highest priority wins. Two overrides of equal priority with different values are an error: a choice
 * by name would silently give a host the wrong value. The result is sorted by path.
 */
export function resolveOverrides(overrides: readonly NodeOverride[]): OverrideResolution {
  const sorted = [...overrides].sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
  const winners = new Map<string, Winner>();
  for (const { name, priority, fields } of sorted) {
    for (const field of fields) {
      const first = winners.get(field.path);
      if (!first) winners.set(field.path, { priority, field: { ...field, from: name } });
      else if (first.priority === priority && !isSameValue(field.kind, first.field.value, field.value)) {
        const both = `DaemonSetOverrides ${first.field.from} and ${name} have the same priority`;
        const message = `${both} and different values for ${field.path}: change the priority of one`;
        return { kind: 'refused', message };
      }
    }
  }
  const fields = [...winners.values()].map(({ field }) => field);
  return { kind: 'resolved', fields: fields.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}
