/** Checks the shape of a Node manifest, so that a simulated host can use it. The coordinator validates the values. */
import { parseQuantity, type Quantity } from '../../shared/kube/objects/quantity.js';

/** Fields that a simulated host reads. An absent or empty field is valid. */
const PLACES: readonly [path: string, isRight: (value: unknown) => boolean, meant: string][] = [
  ['metadata.labels', isMapOf(isText), 'a map of strings (quote values such as "5" and "true")'],
  ['spec.taints', isListWith('key', 'effect'), 'a list of taints with key and effect'],
  ['status.capacity', isMapOf(isQuantity), 'a map of quantities'],
  ['status.allocatable', isMapOf(isQuantity), 'a map of quantities'],
  ['status.addresses', isListWith('type', 'address'), 'a list of addresses with type and address'],
  ['status.conditions', isListWith('type', 'status'), 'a list of conditions with type and status'],
  ['status.nodeInfo', isMap, 'a map'],
];

/** Returns what is wrong, such as `metadata.labels is not a map of strings`. Undefined for a valid manifest. */
export function manifestError(node: unknown): string | undefined {
  for (const part of ['metadata', 'spec', 'status']) {
    if (!isAbsent(at(node, part)) && !isMap(at(node, part))) return `${part} is not a map`;
  }
  const wrong = PLACES.find(([path, isRight]) => {
    const value = path.split('.').reduce(at, node);
    return !isAbsent(value) && !isRight(value);
  });
  return wrong && `${wrong[0]} is not ${wrong[2]}`;
}

function at(value: unknown, key: string): unknown {
  return isMap(value) ? value[key] : undefined;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isQuantity(value: unknown): boolean {
  return ['string', 'number'].includes(typeof value) && parseQuantity(value as Quantity) !== undefined;
}

function isMapOf(isRight: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => isMap(value) && Object.values(value).every(isRight);
}

function isListWith(...keys: string[]): (value: unknown) => boolean {
  return (value) =>
    Array.isArray(value) && value.every((each) => keys.every((key) => typeof at(each, key) === 'string'));
}
