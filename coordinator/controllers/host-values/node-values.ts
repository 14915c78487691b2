/** The values of a DaemonSet's Pod on a node. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import type { NodeValues } from '../../decisions/host-values/value-resolution.js';
import { valueUsesOf } from '../../decisions/host-values/value-uses.js';
import type { Informer } from '../../informers/informer.js';
import { HostValueIndex } from './host-value-index.js';

/** The informer, or an overlay of it. */
export type HostValuesReader = Pick<Informer<HostValues>, 'indexed' | 'onChange'>;

/** One index serves the controller, the explanations and the plans. */
const indexes = new WeakMap<HostValuesReader, HostValueIndex>();

function indexOf(reader: HostValuesReader): HostValueIndex {
  const known = indexes.get(reader);
  if (known) return known;
  const index = new HostValueIndex(reader);
  indexes.set(reader, index);
  return index;
}

/** Returns undefined if the template uses no values. */
export function nodeValues(
  reader: HostValuesReader,
  { metadata, spec }: DaemonSet,
  node: { metadata: Pick<ObjectMeta, 'name' | 'labels' | 'annotations'> },
): NodeValues | undefined {
  const uses = valueUsesOf(spec.template);
  return uses && indexOf(reader).valuesOn(metadata.namespace ?? '', node.metadata, uses);
}

/** Returns what identifies the HostValues that the template uses in the whole fleet, or undefined if it uses none. */
export function fleetValues(reader: HostValuesReader, { metadata, spec }: DaemonSet): string | undefined {
  const uses = valueUsesOf(spec.template);
  return uses && indexOf(reader).digest(metadata.namespace ?? '', uses.keys);
}
