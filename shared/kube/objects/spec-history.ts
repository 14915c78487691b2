/**
 * Earlier specs of an object, in its own status. Each is stored as the change that leads back to it, because a copy of
 * values for thousands of hosts would be repeated for each changed value. The write that changes the spec also stores
 * its history, so a crash cannot lose a step between them.
 */
import { ownValue } from './label-syntax.js';
import { applyMergePatch, mergePatchBetween } from './merge-patch.js';
import type { KubeObject, Timestamp } from './meta.js';

/** Absent fields: the object was stored by a release without history. */
interface SpecChange {
  changedAt?: Timestamp;
  /** Absent for the coordinator itself. */
  changedBy?: string;
}

/** An earlier spec. */
export interface PastSpec extends SpecChange {
  /** The object's metadata.generation with this spec. */
  generation: number;
  /** JSON merge patch that turns the spec of the next generation into this one. */
  undo: Record<string, unknown>;
}

/** The last change, and earlier specs without a gap, the newest first. */
export interface SpecHistoryStatus extends SpecChange {
  history?: PastSpec[];
}

/** An object whose spec has a history. */
export interface ObjectWithHistory extends KubeObject {
  spec: object;
  status?: SpecHistoryStatus;
}

/** Returns the spec that the object had at this generation, or undefined if it is not kept. */
export function specAt(
  { metadata, spec, status }: ObjectWithHistory,
  generation: number,
): object | undefined {
  if (generation === metadata.generation) return spec;
  const { history = [] } = status ?? {};
  const index = history.findIndex((past) => past.generation === generation);
  if (index < 0) return undefined;
  return history.slice(0, index + 1).reduce<object>((later, { undo }) => applyMergePatch(later, undo), spec);
}

/** A kept spec, and what its write changed. */
export interface KeptSpec extends SpecChange {
  generation: number;
  /** Paths of the changed fields. Undefined for the oldest kept spec, whose predecessor is unknown or absent. */
  paths: readonly (readonly string[])[] | undefined;
}

/** Returns the present spec and the earlier ones, the oldest first. */
export function keptSpecs({ metadata, spec, status }: ObjectWithHistory): KeptSpec[] {
  const { history = [], ...last } = status ?? {};
  const kept: KeptSpec[] = [];
  let later: object = spec;
  let change: SpecChange & { generation: number } = { ...last, generation: metadata.generation ?? 1 };
  for (const { undo, ...past } of history) {
    kept.push({ ...change, paths: changedPaths(undo, later) });
    later = applyMergePatch(later, undo);
    change = past;
  }
  kept.push({ ...change, paths: undefined });
  return kept.reverse();
}

/** Returns the paths of all fields that `undo` changes in `later`. A removed map counts with each of its fields. */
function changedPaths(undo: unknown, later: unknown): string[][] {
  const patch = undo === null ? later : undo;
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return [[]];
  return Object.entries(patch).flatMap(([key, value]) =>
    changedPaths(undo === null ? null : value, memberOf(later, key)).map((path) => [key, ...path]),
  );
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? ownValue(value as Record<string, unknown>, key)
    : undefined;
}

/** Of a change of many fields, only these are named. */
const MAX_PATHS = 3;

/** Returns the changed fields, for example `hosts[till-0001][store]`, `created`, or `-` if they are not known. */
export function changeText({ generation, paths }: KeptSpec): string {
  if (!paths) return generation === 1 ? 'created' : '-';
  const shown = paths.slice(0, MAX_PATHS).map(pathText);
  const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : '';
  return shown.join(', ') + more;
}

/** Names and keys may contain dots. */
function pathText([first = '', ...rest]: readonly string[]): string {
  return first + rest.map((name) => `[${name}]`).join('');
}

/**
 * Returns a merge patch that gives the object this spec, or undefined if it has it already. The API refuses the patch if
 * the object was changed since it was read.
 */
export function restoringPatch({ metadata, spec: present }: ObjectWithHistory, spec: object) {
  const patch = mergePatchBetween({ ...present }, { ...spec });
  return patch && { metadata: { resourceVersion: metadata.resourceVersion }, spec: patch };
}
