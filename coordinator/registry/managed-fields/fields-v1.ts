/** FieldsV1: the JSON form of a set of paths (`fieldpath.Set` ToJSON, FromJSON). */

import { setOwn } from '../../../shared/kube/objects/merge-patch.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';
import { type Branches, EMPTY_SET, type FieldSet, fieldSet, MEMBER, sortedBranches } from './field-set.js';
import { readElement } from './path-element.js';

/** The key for the parent path itself, in a map that also lists its children. */
const SELF = '.';

/** Returns for example `{"f:data":{".":{},"f:a":{}}}`. */
export function encodeFieldsV1(set: FieldSet): JsonMap {
  if (set instanceof StoredFieldSet) return set.json;
  const json: JsonMap = {};
  for (const [element, branch] of sortedBranches(set)) setOwn(json, element, encodeBranch(branch));
  return json;
}

function encodeBranch(branch: FieldSet): JsonMap {
  if (branch instanceof StoredFieldSet) return branch.json;
  const below = encodeFieldsV1(branch);
  return branch.isMember && branch.children.size > 0 ? { [SELF]: {}, ...below } : below;
}

/** Returns the decoded set, or undefined if the JSON is not FieldsV1. */
export function decodeFieldsV1(json: unknown): FieldSet | undefined {
  return isJsonMap(json) ? decodeMembers(json) : undefined;
}

/** A map without keys is a leaf: its path is in the set. */
function decodeMembers(json: JsonMap): FieldSet | undefined {
  const branches: [string, FieldSet][] = [];
  for (const [text, value] of Object.entries(json)) {
    if (text === SELF) continue;
    const element = readElement(text);
    const branch = isJsonMap(value) ? decodeBranch(value) : undefined;
    if (element === undefined || branch === undefined) return undefined;
    branches.push([element, branch]);
  }
  return fieldSet(Object.hasOwn(json, SELF), branches);
}

function decodeBranch(json: JsonMap): FieldSet | undefined {
  const branch = decodeMembers(json);
  if (!branch) return undefined;
  return { isMember: branch.isMember || Object.keys(json).length === 0, children: branch.children };
}

/**
 * A set in its stored form. Only branches that are asked for are decoded, and unchanged branches are encoded again without
 * work. Otherwise a write of one field of an object with thousands of fields would decode and encode all of them.
 */
class StoredFieldSet implements FieldSet {
  #children: Branches | undefined;

  /** `json` is not empty, and is never changed. */
  constructor(readonly json: JsonMap) {}

  get isMember(): boolean {
    return Object.hasOwn(this.json, SELF);
  }

  get children(): Branches {
    this.#children ??= new StoredBranches(this.json);
    return this.#children;
  }
}

class StoredBranches implements Branches {
  readonly #json: JsonMap;
  readonly #decoded = new Map<string, FieldSet>();

  constructor(json: JsonMap) {
    this.#json = json;
  }

  get size(): number {
    return Object.keys(this.#json).length - (Object.hasOwn(this.#json, SELF) ? 1 : 0);
  }

  keys(): string[] {
    return Object.keys(this.#json).filter((element) => element !== SELF);
  }

  get(element: string): FieldSet | undefined {
    const known = this.#decoded.get(element);
    if (known || element === SELF || !Object.hasOwn(this.#json, element)) return known;
    const branch = storedBranch(this.#json[element] as JsonMap);
    this.#decoded.set(element, branch);
    return branch;
  }

  *[Symbol.iterator](): Generator<[string, FieldSet]> {
    for (const element of this.keys()) yield [element, this.get(element) ?? EMPTY_SET];
  }
}

function storedBranch(json: JsonMap): FieldSet {
  return hasMembers(json) ? new StoredFieldSet(json) : MEMBER;
}

function hasMembers(json: JsonMap): boolean {
  for (const key in json) if (Object.hasOwn(json, key)) return true;
  return false;
}

/** Returns the set of JSON that `encodeFieldsV1` made. It is not checked. */
export function storedFieldsV1(json: JsonMap): FieldSet {
  return hasMembers(json) ? new StoredFieldSet(json) : EMPTY_SET;
}
