/**
 * Sets of field paths, the form of ownership (structured-merge-diff `fieldpath.Set`). A set is a tree whose edges are
 * path elements in the text form of FieldsV1: `f:spec`, `k:{"name":"a"}`, `v:"x"`.
 */

/** Immutable. Contains no empty branches. */
export interface FieldSet {
  /** True if the path that leads to this node is in the set. */
  readonly isMember: boolean;
  readonly children: Branches;
}

/** A map, or a stored form that is decoded branch by branch. Returns the same branch each time. */
export interface Branches extends Iterable<[string, FieldSet]> {
  readonly size: number;
  get(element: string): FieldSet | undefined;
  keys(): Iterable<string>;
}

export const EMPTY_SET: FieldSet = { isMember: false, children: new Map() };

/** The set that contains only the path to this node. */
export const MEMBER: FieldSet = { isMember: true, children: new Map() };

export function isEmptySet(set: FieldSet): boolean {
  return !set.isMember && set.children.size === 0;
}

/** Returns a set of these branches without the empty ones. */
export function fieldSet(isMember: boolean, branches: Iterable<readonly [string, FieldSet]>): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, branch] of branches) if (!isEmptySet(branch)) children.set(element, branch);
  return { isMember, children };
}

/** Returns the branch below one path element. */
export function branchOf(set: FieldSet, element: string): FieldSet {
  return set.children.get(element) ?? EMPTY_SET;
}

/**
 * Returns the set with other branches at some elements. All other branches are shared: a write of one field of an object
 * with thousands of fields must not build thousands of sets.
 */
function withBranches(
  set: FieldSet,
  isMember: boolean,
  branches: Iterable<readonly [string, FieldSet]>,
): FieldSet {
  let children: Map<string, FieldSet> | undefined;
  for (const [element, branch] of branches) {
    if (branch === set.children.get(element)) continue;
    children ??= new Map(set.children);
    if (isEmptySet(branch)) children.delete(element);
    else children.set(element, branch);
  }
  if (!children && isMember === set.isMember) return set;
  return { isMember, children: children ?? set.children };
}

/** Yields the branches that both sets have. Costs the size of the smaller set. */
function* commonBranches(left: FieldSet, right: FieldSet): Generator<[string, FieldSet, FieldSet]> {
  const smaller = left.children.size <= right.children.size ? left : right;
  for (const element of smaller.children.keys()) {
    const one = left.children.get(element);
    const other = right.children.get(element);
    if (one && other) yield [element, one, other];
  }
}

/** Returns the paths that are in either set. */
export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmptySet(right)) return left;
  if (isEmptySet(left)) return right;
  const [large, small] = left.children.size < right.children.size ? [right, left] : [left, right];
  const branches = [...small.children].map(
    ([element, branch]) => [element, union(branchOf(large, element), branch)] as const,
  );
  return withBranches(large, left.isMember || right.isMember, branches);
}

/** Returns the paths of `left` that are not in `right`. Parents and children count as different paths. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(left) || isEmptySet(right)) return left;
  const branches = [...commonBranches(left, right)].map(
    ([element, one, other]) => [element, difference(one, other)] as const,
  );
  return withBranches(left, left.isMember && !right.isMember, branches);
}

/** Returns the paths of `left` that are neither in `right` nor below a path in `right`. */
export function outside(left: FieldSet, right: FieldSet): FieldSet {
  if (right.isMember) return EMPTY_SET;
  if (isEmptySet(right)) return left;
  const branches = [...commonBranches(left, right)].map(
    ([element, one, other]) => [element, outside(one, other)] as const,
  );
  return withBranches(left, left.isMember, branches);
}

/** Returns the paths that are in both sets. */
export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (isEmptySet(left) || isEmptySet(right)) return EMPTY_SET;
  return fieldSet(
    left.isMember && right.isMember,
    [...left.children].map(([element, branch]) => [element, intersection(branch, branchOf(right, element))]),
  );
}

export function sameSet(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true;
  if (left.isMember !== right.isMember || left.children.size !== right.children.size) return false;
  return [...left.children].every(([element, branch]) => sameSet(branch, branchOf(right, element)));
}

/** Returns the branches in the order in which FieldsV1 stores them. */
export function sortedBranches({ children }: FieldSet): [string, FieldSet][] {
  return [...children].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Yields every path of the set, parents before children. */
export function* pathsOf(set: FieldSet, above: readonly string[] = []): Generator<readonly string[]> {
  const branches = sortedBranches(set);
  for (const [element, branch] of branches) if (branch.isMember) yield [...above, element];
  for (const [element, branch] of branches) yield* pathsOf(branch, [...above, element]);
}

/** Returns the set of these paths, for example `['f:metadata', 'f:name']`. */
export function setOfPaths(paths: Iterable<readonly string[]>): FieldSet {
  let set = EMPTY_SET;
  for (const path of paths) set = union(set, setOfPath(path));
  return set;
}

function setOfPath([first, ...rest]: readonly string[]): FieldSet {
  return first === undefined ? MEMBER : fieldSet(false, [[first, setOfPath(rest)]]);
}
