/** FieldsV1: the JSON form of a set of paths (`fieldpath.Set` ToJSON, FromJSON). */
import { isJsonMap, type JsonMap, setOwn } from '../encoding/json-value.js';
import { type FieldSet, fieldSet, sortedBranches } from './field-set.js';
import { readElement } from './path-element.js';

/** The member that stands for the path itself where something lies below it. */
const SELF = '.';

/** `{"f:data":{".":{},"f:a":{}}}`. */
export function encodeFieldsV1(set: FieldSet): JsonMap {
  const json: JsonMap = {};
  for (const [element, branch] of sortedBranches(set)) setOwn(json, element, encodeBranch(branch));
  return json;
}

function encodeBranch(branch: FieldSet): JsonMap {
  const below = encodeFieldsV1(branch);
  return branch.isMember && branch.children.size > 0 ? { [SELF]: {}, ...below } : below;
}

/** The set that the JSON describes; undefined for what is no FieldsV1. */
export function decodeFieldsV1(json: unknown): FieldSet | undefined {
  return isJsonMap(json) ? decodeMembers(json) : undefined;
}

/** A member without members is a leaf: its path is in the set. */
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
