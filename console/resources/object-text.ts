/** An object of any kind as text, and the parts of it that have a place of their own on its page. Pure. */
import { stringify } from 'yaml';
import type { Condition } from '../../shared/kube/objects/conditions.js';
import { countText, type KubeObject } from '../../shared/kube/objects/meta.js';

/** An object of any kind. Its fields are unknown to the console. */
export interface AnyObject extends KubeObject {
  spec?: unknown;
  status?: unknown;
  data?: unknown;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Returns the object as YAML. Field ownership is left out, as by `kubectl get -o yaml`. The values of a Secret are
 * replaced by their sizes, because a page stays open on screens that others see; the last applied manifest, which
 * repeats them, is left out.
 */
export function objectText(object: AnyObject): string {
  const { managedFields: _, annotations, ...metadata } = object.metadata;
  const { [LAST_APPLIED]: __, ...own } = annotations ?? {};
  const shown = { ...metadata, ...(Object.keys(own).length > 0 ? { annotations: own } : {}) };
  const masked = object.kind === 'Secret' ? { data: sizesOf(object.data) } : {};
  return stringify({ ...object, metadata: shown, ...masked }, { lineWidth: 0 });
}

function sizesOf(data: unknown): Record<string, string> {
  const entries = Object.entries((data ?? {}) as Record<string, string>);
  return Object.fromEntries(entries.map(([key, value]) => [key, countText(bytesOf(value), 'byte')]));
}

/** Returns the number of bytes that a base64 text stands for. */
function bytesOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
}

/** Returns `status.conditions`, or an empty list if the kind has none. */
export function conditionsOf({ status }: AnyObject): readonly Condition[] {
  const conditions = (status as { conditions?: unknown } | undefined)?.conditions;
  return Array.isArray(conditions) ? (conditions as Condition[]) : [];
}

/**
 * Returns the label selector of the Pods that belong to the object, or undefined. An empty selector selects all Pods of
 * the namespace, or none, depending on the kind, so it is not shown. Nor is a selector with `matchExpressions`: its labels
 * alone would select Pods that do not belong to the object.
 */
export function podSelector({ spec }: AnyObject): string | undefined {
  const selector = (
    spec as { selector?: { matchLabels?: unknown; matchExpressions?: unknown[] } } | undefined
  )?.selector;
  if (selector?.matchExpressions?.length) return undefined;
  const entries = Object.entries((selector?.matchLabels ?? {}) as Record<string, string>);
  if (entries.length === 0) return undefined;
  return entries.map(([label, value]) => `${label}=${value}`).join(',');
}
