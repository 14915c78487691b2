/** What a person changes at one host or at many, as data: what shows its effect and what writes it cannot differ. */

import { ownValue } from '../objects/own-value.js';
import type { Node, Taint, TaintEffect } from './node-types.js';

/** What tells a Node's taints apart. */
type TaintKey = Pick<Taint, 'key' | 'effect'>;

export interface NodeChange {
  /** Values to set; null takes the label away. */
  labels?: Readonly<Record<string, string | null>>;
  taints?: {
    /** In the place of one of the same key and effect. */
    add?: readonly Taint[];
    remove?: readonly TaintKey[];
  };
  unschedulable?: boolean;
}

/** Marks hosts that somebody works on: Pods that do not tolerate it go, DaemonSets' too, until it is taken away. */
export const MAINTENANCE_TAINT: Taint = { key: 'fleet.everynode.dev/maintenance', effect: 'NoExecute' };

/** The labels after a change. Pure. */
export function labelsAfter(
  labels: Readonly<Record<string, string>> = {},
  { labels: changed = {} }: NodeChange,
): Record<string, string> {
  const merged = Object.entries({ ...labels, ...changed });
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null));
}

/** The taints after a change, those that stay first. Pure. */
export function taintsAfter(taints: readonly Taint[] = [], { taints: changed = {} }: NodeChange): Taint[] {
  const { add = [], remove = [] } = changed;
  const gone = [...add, ...remove];
  const kept = taints.filter((taint) => !gone.some((each) => isSameTaint(each, taint)));
  return [...kept, ...add];
}

/** The Node as the change leaves it; the one given is not touched. */
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

/** The change that brings the Node back to where it was before `change`, of what `change` touches and nothing else. */
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

/** A Node has one taint of a key and effect. */
export function isSameTaint(a: TaintKey, b: TaintKey): boolean {
  return a.key === b.key && a.effect === b.effect;
}

const TAINT = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/;

/** `key=value:Effect` as kubectl takes it; undefined for anything else. */
export function parseTaint(text: string): Taint | undefined {
  const [, key, value, effect] = TAINT.exec(text.trim()) ?? [];
  if (key === undefined || effect === undefined) return undefined;
  return { key, ...(value ? { value } : {}), effect: effect as TaintEffect };
}

/** `key=value:Effect`. */
export function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ''}:${effect}`;
}
