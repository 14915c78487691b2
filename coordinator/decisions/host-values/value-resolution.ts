/** Decides which value a host has for a key, and which values its Pod is rendered from. */
import type { HostValue } from '../../../shared/kube/host-values/host-values-types.js';
import { parseValuePath, type ValueSource } from '../../../shared/kube/host-values/rendered-values.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';

/** A value that a HostValues object gives a host. */
export interface ValueCandidate {
  /** Name of the HostValues object. */
  from: string;
  priority: number;
  /** The object names the host, instead of selecting it by labels. */
  isNamed: boolean;
  value: HostValue;
}

/** One value of a host, and where it comes from. */
export interface ResolvedValue {
  path: string;
  value: HostValue;
  /** Name of the HostValues object. Absent: the value is a label or an annotation of the Node. */
  from?: string;
}

/** The values of one Pod on one node. `text` is the Pod's annotation. */
export type NodeValues =
  | { kind: 'resolved'; text: string; values: readonly ResolvedValue[] }
  | { kind: 'refused'; message: string };

type Resolution = { kind: 'value'; value: ResolvedValue } | { kind: 'refused'; message: string };

/** Returns the candidates for a key of HostValues. */
type FindCandidates = (key: string) => readonly ValueCandidate[];

type NodeMeta = Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>;

function compare(a: ValueCandidate, b: ValueCandidate): number {
  return b.priority - a.priority || Number(b.isNamed) - Number(a.isNamed);
}

/**
 * The highest priority wins, then an object that names the host. Two objects of equal rank with different values are an
 * error: a choice by name would silently give a host the wrong value.
 */
function resolveKey(
  path: string,
  key: string,
  node: string,
  candidates: readonly ValueCandidate[],
): Resolution {
  const sorted = [...candidates].sort((a, b) => compare(a, b) || (a.from < b.from ? -1 : 1));
  const [first] = sorted;
  if (!first) {
    const message = `node ${node} has no value for ${path}: no HostValues of the namespace has the key "${key}" for it`;
    return { kind: 'refused', message };
  }
  const text = JSON.stringify(first.value);
  const rival = sorted.find((one) => compare(first, one) === 0 && JSON.stringify(one.value) !== text);
  if (rival) {
    const both = `HostValues ${first.from} and ${rival.from} have the same priority and different values`;
    return { kind: 'refused', message: `node ${node} has no single value for ${path}: ${both}` };
  }
  return { kind: 'value', value: { path, value: first.value, from: first.from } };
}

function resolveMeta(path: string, source: ValueSource, key: string, node: NodeMeta): Resolution {
  const isLabel = source === 'node.metadata.labels';
  const value = ownValue(isLabel ? node.labels : node.annotations, key);
  if (value !== undefined) return { kind: 'value', value: { path, value } };
  const what = isLabel ? 'label' : 'annotation';
  return { kind: 'refused', message: `node ${node.name} has no ${what} "${key}", which ${path} needs` };
}

/** Resolves these paths and no others. `candidatesFor` is called once for each key of HostValues. */
export function resolveValues(
  paths: readonly string[],
  node: NodeMeta,
  candidatesFor: FindCandidates,
): NodeValues {
  const values: ResolvedValue[] = [];
  for (const path of paths) {
    const parsed = parseValuePath(path);
    if (!parsed) continue;
    const { source, key } = parsed;
    const found =
      source === 'hostValues'
        ? resolveKey(path, key, node.name, candidatesFor(key))
        : resolveMeta(path, source, key, node);
    if (found.kind === 'refused') return found;
    values.push(found.value);
  }
  const text = JSON.stringify(Object.fromEntries(values.map(({ path, value }) => [path, value])));
  return { kind: 'resolved', text, values };
}
