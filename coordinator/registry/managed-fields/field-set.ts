/**
 * Sets of paths in an object, as ownership of fields is told in (structured-merge-diff `fieldpath.Set`).
 * A set is a tree: path elements in the text form of FieldsV1 (`f:spec`, `k:{"name":"a"}`, `v:"x"`) lead down.
 */

/** Never changed once made, and never with an empty branch. */
export interface FieldSet {
  /** The path that leads here is in the set. */
  readonly isMember: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const EMPTY_SET: FieldSet = { isMember: false, children: new Map() };

/** The set of exactly the path that leads here. */
export const MEMBER: FieldSet = { isMember: true, children: new Map() };

/** True for a set without any field. */
export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && set.children.size === 0;
}

/** A set of these branches, the empty ones left out. */
export function fieldSet(isMember: boolean, branches: Iterable<readonly [string, FieldSet]>): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, branch] of branches) if (!isEmptySet(branch)) children.set(element, branch);
  return { isMember, children };
}

/** What lies under one path element. */
export function branchOf(set: FieldSet, element: string): FieldSet {
  return set.children.get(element) ?? EMPTY_SET;
}

/** Paths that are in either. */
export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(left)) return right;
  if (isEmptySet(right)) return left;
  const elements = new Set([...left.children.keys(), ...right.children.keys()]);
  const branches = [...elements].map(
    (element) => [element, union(branchOf(left, element), branchOf(right, element))] as const,
  );
  return fieldSet(left.isMember || right.isMember, branches);
}

/** Paths of `left` that `right` lacks. A path above or below is another path. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(left) || isEmptySet(right)) return left;
  return fieldSet(
    left.isMember && !right.isMember,
    [...left.children].map(([element, branch]) => [element, difference(branch, branchOf(right, element))]),
  );
}

/** Paths of `left` that are neither in `right` nor under one that is. */
export function outside(left: FieldSet, right: FieldSet): FieldSet {
  if (right.isMember) return EMPTY_SET;
  if (isEmptySet(right)) return left;
  return fieldSet(
    left.isMember,
    [...left.children].map(([element, branch]) => [element, outside(branch, branchOf(right, element))]),
  );
}

/** Paths that are in both. */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(left) || isEmptySet(right)) return EMPTY_SET;
  return fieldSet(
    left.isMember && right.isMember,
    [...left.children].map(([element, branch]) => [element, intersection(branch, branchOf(right, element))]),
  );
}

/** True for sets of the same fields. */
export function sameSet(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true;
  if (left.isMember !== right.isMember || left.children.size !== right.children.size) return false;
  return [...left.children].every(([element, branch]) => sameSet(branch, branchOf(right, element)));
}

/** The branches in the order in which they are written. */
export function sortedBranches({ children }: FieldSet): [string, FieldSet][] {
  return [...children].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Every path of the set, members of a level before what lies below it. */
export function* pathsOf(set: FieldSet, above: readonly string[] = []): Generator<readonly string[]> {
  const branches = sortedBranches(set);
  for (const [element, branch] of branches) if (branch.isMember) yield [...above, element];
  for (const [element, branch] of branches) yield* pathsOf(branch, [...above, element]);
}

/** The set of these paths, e.g. `['f:metadata', 'f:name']`. */
export function setOfPaths(paths: Iterable<readonly string[]>): FieldSet {
  let set = EMPTY_SET;
  for (const path of paths) set = union(set, setOfPath(path));
  return set;
}

function setOfPath([first, ...rest]: readonly string[]): FieldSet {
  return first === undefined ? MEMBER : fieldSet(false, [[first, setOfPath(rest)]]);
}
