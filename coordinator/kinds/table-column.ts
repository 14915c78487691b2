/** Columns and cell texts that most kinds share. */
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { ageText } from './duration-text.js';
import type { Column } from './kind.js';

export const NONE = '<none>';
export const UNKNOWN = '<unknown>';

/** The name is the first column of every table. */
export const NAME_COLUMN: Column<KubeObject> = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique among those of its kind in its namespace.',
  priority: 0,
  cell: (object) => object.metadata.name,
};

export const AGE_COLUMN: Column<KubeObject> = {
  name: 'Age',
  type: 'string',
  description: 'Time since the server stored the object first.',
  priority: 0,
  cell: (object, now) => ageText(object.metadata.creationTimestamp, now),
};

/** Returns a column that is always shown. Counters are `integer`. */
export function column<T extends KubeObject>(
  name: string,
  type: Column<T>['type'],
  description: string,
  cell: Column<T>['cell'],
): Column<T> {
  return { name, type, description, priority: 0, cell };
}

/** Returns a column for `-o wide`. */
export function wideColumn<T extends KubeObject>(
  name: string,
  type: 'string' | 'integer',
  description: string,
  cell: Column<T>['cell'],
): Column<T> {
  return { name, type, description, priority: 1, cell };
}

/** Returns for example `a=1,b=2`, sorted by key, or `<none>`. */
export function labelsText(labels: Record<string, string> | undefined): string {
  const pairs = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.length === 0 ? NONE : pairs.map(([key, value]) => `${key}=${value}`).join(',');
}
