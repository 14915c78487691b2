/** FieldsV1: the JSON form of a set of paths (`fieldpath.Set` ToJSON, FromJSON). */
import { isJsonMap, type JsonMap, setOwn } from '../encoding/json-value.js';
import { type FieldSet, fieldSet, sortedBranches } from './field-set.js';
import { readElement } from './path-element.js';

/** The key for the parent path itself, in a map that also lists its children. */
const SELF = '.';

/** Returns for example `{"f:data":{".":{},"f:a":{}}}`. */
export function encodeFieldsV1(set: FieldSet): JsonMap {
  const json: JsonMap = {};
  for (const [element, branch] of sortedBranches(set)) setOwn(json, element, encodeBranch(branch));
  return json;
}

function encodeBranch(branch: FieldSet): JsonMap {
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
