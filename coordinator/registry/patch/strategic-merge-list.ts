/**
 * How a strategic merge patch merges lists: elements found by a key (or plain values as a set), and their order
 * (`k8s.io/apimachinery/pkg/util/strategicpatch`: mergeSlice, normalizeElementOrder).
 */
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';

/** A patch that cannot be understood; `message` is what the client is told with a 400. */
export class PatchFormatError extends Error {}

/** Text that is the same for elements that stand for each other; undefined for one that names nothing. */
export type Identity = (element: unknown) => string | undefined;

/** By the value of the merge key, or by the element itself where there is none. */
export function identityBy(mergeKey: string | undefined): Identity {
  return (element) => {
    const value = mergeKey !== undefined && isJsonMap(element) ? element[mergeKey] : element;
    return JSON.stringify(value);
  };
}

/** Where an element stands in a list, or -1. */
type Rank = (element: unknown) => number;

function rankIn(list: readonly unknown[], identity: Identity): Rank {
  const positions = new Map<string | undefined, number>();
  for (const [index, element] of list.entries()) {
    const name = identity(element);
    if (name !== undefined && !positions.has(name)) positions.set(name, index);
  }
  return (element) => positions.get(identity(element)) ?? -1;
}

/**
 * Brings `merged` into order: the elements named by `wanted` as they stand there; the others, which only the
 * server knows, keep their place before those that follow them in `current`.
 */
export function orderList(
  merged: readonly unknown[],
  wanted: readonly unknown[],
  current: readonly unknown[],
  identity: Identity,
): unknown[] {
  const wantedRank = rankIn(wanted, identity);
  const currentRank = rankIn(current, identity);
  const named = merged.filter((element) => wantedRank(element) >= 0);
  const others = merged.filter((element) => wantedRank(element) < 0);
  return interleave(sorted(others, currentRank), sorted(named, wantedRank), currentRank);
}

function sorted(list: readonly unknown[], rank: Rank): unknown[] {
  return list
    .map((element) => ({ element, place: rank(element) }))
    .sort((a, b) => a.place - b.place)
    .map(({ element }) => element);
}

/** One of `others` goes first only where both are known and it stood before; new elements come as early as can be. */
function interleave(others: readonly unknown[], named: readonly unknown[], rank: Rank): unknown[] {
  const result: unknown[] = [];
  let next = 0;
  for (const element of named) {
    for (let place = rank(element); next < others.length && isBefore(rank(others[next]), place); next += 1) {
      result.push(others[next]);
    }
    result.push(element);
  }
  return [...result, ...others.slice(next)];
}

function isBefore(rank: number, place: number): boolean {
  return rank >= 0 && rank < place;
}

/** The union of two lists of plain values, each once. */
export function mergeSets(current: readonly unknown[], patch: readonly unknown[]): unknown[] {
  return orderList([...new Set([...current, ...patch])], patch, current, identityBy(undefined));
}

interface Directives {
  replaces: boolean;
  /** Identities of elements to delete. */
  deleted: Set<string | undefined>;
  /** The patch without `$patch` elements. */
  elements: JsonMap[];
}

/** Tells `{"$patch":"delete",KEY}` and `{"$patch":"replace"}` from the elements to merge. Throws `PatchFormatError`. */
function readElements(patch: readonly unknown[], mergeKey: string): Directives {
  const identity = identityBy(mergeKey);
  const read: Directives = { replaces: false, deleted: new Set(), elements: [] };
  for (const element of patch) {
    if (!isJsonMap(element)) throw new PatchFormatError('a list of maps cannot be merged with other values');
    if (element.$patch === 'replace') {
      read.replaces = true;
      continue;
    }
    if (identity(element) === undefined) {
      const shown = JSON.stringify(element);
      throw new PatchFormatError(`map: ${shown} does not contain declared merge key: ${mergeKey}`);
    }
    if (element.$patch === 'delete') read.deleted.add(identity(element));
    else read.elements.push(element);
  }
  return read;
}

/** Merges elements found by `mergeKey`; `mergeElement` gets undefined for one that is new. Throws `PatchFormatError`. */
export function mergeByKey(
  current: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string,
  mergeElement: (present: unknown, patch: JsonMap) => unknown,
): unknown[] {
  const identity = identityBy(mergeKey);
  const { replaces, deleted, elements } = readElements(patch, mergeKey);
  const base = replaces ? [] : current.filter((element) => !deleted.has(identity(element)));
  const merged = [...base];
  const places = new Map(base.map((element, index) => [identity(element), index]));
  for (const element of elements) {
    const at = places.get(identity(element)) ?? merged.length;
    merged[at] = mergeElement(merged[at], element);
    places.set(identity(element), at);
  }
  return orderList(merged, elements, base, identity);
}
