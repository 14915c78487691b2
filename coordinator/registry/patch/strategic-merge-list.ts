/**
 * List merging of strategic merge patches: elements are matched by key, or as a set of plain values, and then ordered
 * (`k8s.io/apimachinery/pkg/util/strategicpatch`: mergeSlice, normalizeElementOrder).
 */
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';

/** A malformed patch. `message` is the message of the 400. */
export class PatchFormatError extends Error {}

/** Returns the same text for matching elements, or undefined for an element without a key. */
export type Identity = (element: unknown) => string | undefined;

/** Matches elements by the merge key, or by value if there is none. */
export function identityBy(mergeKey: string | undefined): Identity {
  return (element) => {
    const value = mergeKey !== undefined && isJsonMap(element) ? element[mergeKey] : element;
    return JSON.stringify(value);
  };
}

/** Returns the index of an element in a list, or -1. */
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
 * Orders `merged`. Elements that `wanted` names follow its order. Elements that only the server has stay before the
 * elements that follow them in `current`.
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

/** An element of `others` goes first only if it came first in `current`. New elements go as early as possible. */
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

/** Returns the union of two lists of plain values without duplicates. */
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

/**
 * Separates `{"$patch":"delete",KEY}` and `{"$patch":"replace"}` from the elements to merge. Throws `PatchFormatError`.
 */
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

/** Merges elements by `mergeKey`. `mergeElement` receives undefined for a new element. Throws `PatchFormatError`. */
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
