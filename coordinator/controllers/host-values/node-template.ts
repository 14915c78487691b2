/** What a DaemonSet's Pod is made from on a node: the template with the node's overrides, and the node's values. */

import { OVERRIDES_ANNOTATION } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import { refusalOfValues } from '../../decisions/host-values/rendered-pod.js';
import type { NodeValues } from '../../decisions/host-values/value-resolution.js';
import { type ValueUses, valueUsesOf } from '../../decisions/host-values/value-uses.js';
import type { OverriddenField } from '../../decisions/overrides/override-resolution.js';
import type { Informer } from '../../informers/informer.js';
import { HostValueIndex } from './host-value-index.js';
import { OverrideIndex, type OverridesReader } from './override-index.js';

/** The informer, or an overlay of it. */
type HostValuesReader = Pick<Informer<HostValues>, 'indexed' | 'onChange'>;

/** Informers, or an overlay of them. */
export interface NodeSettingsReader {
  hostValues: HostValuesReader;
  daemonSetOverrides: OverridesReader;
}

/**
 * `daemonSet`: with the template of the node. `overrides`: the Pod's annotation, or '' for none. `values`: absent if the
 * template uses none.
 */
export type NodeTemplate =
  | {
      kind: 'resolved';
      daemonSet: DaemonSet;
      overrides: string;
      applied: readonly OverriddenField[];
      values?: { uses: ValueUses; resolved: Extract<NodeValues, { kind: 'resolved' }> };
    }
  | { kind: 'refused'; message: string };

/** One index serves the controller, the explanations and the plans. */
const valueIndexes = new WeakMap<HostValuesReader, HostValueIndex>();
const overrideIndexes = new WeakMap<OverridesReader, OverrideIndex>();

function valueIndexOf(reader: HostValuesReader): HostValueIndex {
  const index = valueIndexes.get(reader) ?? new HostValueIndex(reader);
  valueIndexes.set(reader, index);
  return index;
}

function overrideIndexOf(reader: OverridesReader): OverrideIndex {
  const index = overrideIndexes.get(reader) ?? new OverrideIndex(reader);
  overrideIndexes.set(reader, index);
  return index;
}

type NodeMeta = { metadata: Pick<ObjectMeta, 'name' | 'labels' | 'annotations'> };

/** Returns what the node's Pod is made from, or why it cannot be made. */
export function nodeTemplate(
  { hostValues, daemonSetOverrides }: NodeSettingsReader,
  whole: DaemonSet,
  { metadata: node }: NodeMeta,
): NodeTemplate {
  const overridden = overrideIndexOf(daemonSetOverrides).on(whole, node);
  if (overridden?.kind === 'refused') {
    return { kind: 'refused', message: `node ${node.name}: ${overridden.message}` };
  }
  const { daemonSet, applied } = overridden ?? { daemonSet: whole, applied: [] };
  const { template } = daemonSet.spec;
  // A template may contain the annotation itself. Its Pods are then up to date with it.
  const overrides = template.metadata?.annotations?.[OVERRIDES_ANNOTATION] ?? '';
  const uses = valueUsesOf(template);
  if (!uses) return { kind: 'resolved', daemonSet, overrides, applied };
  const resolved = valueIndexOf(hostValues).valuesOn(whole.metadata.namespace ?? '', node, uses);
  if (resolved.kind === 'refused') return resolved;
  const message = refusalOfValues(uses, resolved);
  if (message !== undefined) return { kind: 'refused', message };
  return { kind: 'resolved', daemonSet, overrides, applied, values: { uses, resolved } };
}

/**
 * Returns what identifies the HostValues and overrides of the DaemonSet in the whole fleet, or undefined if it uses
 * none. Another text is another rollout.
 */
export function fleetSettings(
  { hostValues, daemonSetOverrides }: NodeSettingsReader,
  daemonSet: DaemonSet,
): string | undefined {
  const overrides = overrideIndexOf(daemonSetOverrides).digest(daemonSet);
  const keys = usedKeys({ daemonSetOverrides }, daemonSet);
  const values = valueIndexOf(hostValues).digest(daemonSet.metadata.namespace ?? '', keys);
  if (overrides === undefined) return values;
  return values === undefined ? overrides : `${values}-${overrides}`;
}

/** Returns the keys of HostValues that the template and its overrides use, sorted. */
export function usedKeys(
  { daemonSetOverrides }: Pick<NodeSettingsReader, 'daemonSetOverrides'>,
  daemonSet: DaemonSet,
): readonly string[] {
  const { keys = [] } = valueUsesOf(daemonSet.spec.template) ?? {};
  const added = overrideIndexOf(daemonSetOverrides).keys(daemonSet);
  return added.length === 0 ? keys : [...new Set([...keys, ...added])].sort();
}
