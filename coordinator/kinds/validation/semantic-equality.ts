/** Equality like apimachinery equality.Semantic: absent, null and empty are equal, quantities compare by value. */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { parseQuantity } from '../../../shared/kube/objects/quantity.js';

/** Maps in upstream's types: an empty one equals an absent one. An empty struct (`emptyDir: {}`) does not. */
const MAP_FIELDS = new Set([
  'labels',
  'annotations',
  'nodeSelector',
  'matchLabels',
  'limits',
  'requests',
  'overhead',
  'capacity',
  'allocatable',
  'data',
  'binaryData',
]);
const QUANTITY_MAPS = new Set(['limits', 'requests', 'overhead', 'capacity', 'allocatable']);
const QUANTITY_FIELDS = new Set(['sizeLimit', 'divisor']);

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns undefined for all values that upstream treats as absent. */
function present(field: string, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value;
  if (MAP_FIELDS.has(field) && isMap(value) && Object.keys(value).length === 0) return undefined;
  return value;
}

function equalQuantities(a: unknown, b: unknown): boolean {
  const [left, right] = [a, b].map((value) => parseQuantity(value as string | number | undefined));
  return left === right && (left !== undefined || a === b);
}

function equalMaps(parent: string, a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const quantities = QUANTITY_MAPS.has(parent);
  const isEqual = (key: string) =>
    quantities
      ? equalQuantities(ownValue(a, key), ownValue(b, key))
      : equalUnder(key, ownValue(a, key), ownValue(b, key));
  return (
    Object.keys(a).every(isEqual) && Object.keys(b).every((key) => Object.hasOwn(a, key) || isEqual(key))
  );
}

function equalUnder(field: string, first: unknown, second: unknown): boolean {
  const a = present(field, first);
  const b = present(field, second);
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equalUnder('', item, b[index]));
  }
  if (isMap(a) && isMap(b)) return equalMaps(field, a, b);
  return QUANTITY_FIELDS.has(field) && equalQuantities(a, b);
}

/** True if upstream would see no change. */
export function semanticallyEqual(first: unknown, second: unknown): boolean {
  return equalUnder('', first, second);
}
