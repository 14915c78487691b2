/** A change of Nodes as data. The preview and the write use the same data, so they cannot differ. */

import { ownValue } from '../objects/label-syntax.js';
import type { Node, Taint, TaintEffect } from './node-types.js';

/** The identity of a taint: a Node has at most one taint of a key and effect. */
type TaintKey = Pick<Taint, 'key' | 'effect'>;

export interface NodeChange {
  /** Values to set. Null removes the label. */
  labels?: Readonly<Record<string, string | null>>;
  taints?: {
    /** Replaces an existing taint of the same key and effect. */
    add?: readonly Taint[];
    remove?: readonly TaintKey[];
  };
  unschedulable?: boolean;
}

/** Marks a host under maintenance. Pods that do not tolerate it are evicted, including Pods of DaemonSets. */
export const MAINTENANCE_TAINT: Taint = { key: 'fleet.everynode.dev/maintenance', effect: 'NoExecute' };

export function labelsAfter(
  labels: Readonly<Record<string, string>> = {},
  { labels: changed = {} }: NodeChange,
): Record<string, string> {
  const merged = Object.entries({ ...labels, ...changed });
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null));
}

/** Returns the taints after the change. Unchanged taints come first. Pure. */
export function taintsAfter(taints: readonly Taint[] = [], { taints: changed = {} }: NodeChange): Taint[] {
  const { add = [], remove = [] } = changed;
  const gone = [...add, ...remove];
  const kept = taints.filter((taint) => !gone.some((each) => isSameTaint(each, taint)));
  return [...kept, ...add];
}

export function changedNode(node: Node, change: NodeChange): Node {
  const { unschedulable = node.spec?.unschedulable } = change;
  return {
    ...node,
    metadata: { ...node.metadata, labels: labelsAfter(node.metadata.labels, change) },
    spec: {
      ...node.spec,
      taints: taintsAfter(node.spec?.taints, change),
      ...(unschedulable === undefined ? {} : { unschedulable }),
    },
  };
}

/** Returns the change that undoes `change` on this Node. It touches nothing else. */
export function inverseChange({ metadata, spec }: Node, change: NodeChange): NodeChange {
  const { add = [], remove = [] } = change.taints ?? {};
  const taints = spec?.taints ?? [];
  const both = [...add, ...remove];
  const touched = both.filter((one, index) => both.findIndex((each) => isSameTaint(one, each)) === index);
  const had = (one: TaintKey) => taints.find((taint) => isSameTaint(taint, one));
  const labels = Object.keys(change.labels ?? {}).map((key) => [key, ownValue(metadata.labels, key) ?? null]);
  return {
    ...(labels.length > 0 ? { labels: Object.fromEntries(labels) } : {}),
    ...(touched.length > 0
      ? {
          taints: {
            add: touched.flatMap((each) => had(each) ?? []),
            remove: touched.filter((each) => !had(each)).map(({ key, effect }) => ({ key, effect })),
          },
        }
      : {}),
    ...(change.unschedulable === undefined ? {} : { unschedulable: spec?.unschedulable === true }),
  };
}

export function isSameTaint(a: TaintKey, b: TaintKey): boolean {
  return a.key === b.key && a.effect === b.effect;
}

const TAINT = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/;

/** Parses kubectl's `key=value:Effect`. Returns undefined for any other text. */
export function parseTaint(text: string): Taint | undefined {
  const [, key, value, effect] = TAINT.exec(text.trim()) ?? [];
  if (key === undefined || effect === undefined) return undefined;
  return { key, ...(value ? { value } : {}), effect: effect as TaintEffect };
}

export function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ''}:${effect}`;
}
