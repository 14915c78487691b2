/**
 * Index of the ConfigMaps and Secrets that the Pods of each node reference. With it, a changed object finds its nodes
 * without a scan of all Pods. It also decides access: a node receives only objects that this index lists for it.
 */

import { ROOT_CA_CONFIG_MAP } from '../../../shared/kube/access/service-account-token.js';
import { handoverAnnotationOf, withSuccessor } from '../../../shared/kube/handovers/host-handover.js';
import {
  type ConfigReference,
  configKey,
  configReferences,
} from '../../../shared/kube/pods/config-reference.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ObjectChange } from '../../informers/informer.js';

/** A Pod was bound to a node or left it, with the objects that the Pod references. */
interface ReferenceChange {
  node: string;
  references: readonly ConfigReference[];
}

/**
 * Returns the objects that the hub sends for a Pod. Not `kube-root-ca.crt`: every agent has the trust bundle, and one copy
 * per namespace would be sent to each host.
 */
export function hubReferences(pod: Pod): ConfigReference[] {
  return configReferences(pod).filter(
    ({ kind, name }) => kind !== 'ConfigMap' || name !== ROOT_CA_CONFIG_MAP,
  );
}

export class ConfigReferences {
  /** By object: the number of referencing Pods per node. */
  readonly #nodes = new Map<string, Map<string, number>>();

  /** Updates the index for a Pod. Only a handover changes the references of a bound Pod; the rest is free. */
  podChanged({ previous, current }: ObjectChange<Pod>): ReferenceChange[] {
    const isSameNode = previous && current && previous.spec.nodeName === current.spec.nodeName;
    if (isSameNode && handoverAnnotationOf(previous) === handoverAnnotationOf(current)) return [];
    return [...this.#count(previous, -1), ...this.#count(current, 1)];
  }

  /** Returns the nodes with at least one Pod that references the object. */
  nodesReferencing(reference: ConfigReference): string[] {
    return [...(this.#nodes.get(configKey(reference))?.keys() ?? [])];
  }

  /** True if a Pod of this node references the object. */
  isReferenced(node: string, reference: ConfigReference): boolean {
    return this.#nodes.get(configKey(reference))?.has(node) ?? false;
  }

  #count(pod: Pod | undefined, step: 1 | -1): ReferenceChange[] {
    const node = pod?.spec.nodeName;
    if (!pod || !node) return [];
    const references = withSuccessor(pod).flatMap(hubReferences);
    for (const reference of references) this.#add(configKey(reference), node, step);
    return references.length > 0 ? [{ node, references }] : [];
  }

  #add(key: string, node: string, step: 1 | -1): void {
    const nodes = this.#nodes.get(key) ?? new Map<string, number>();
    const count = (nodes.get(node) ?? 0) + step;
    if (count > 0) nodes.set(node, count);
    else nodes.delete(node);
    if (nodes.size > 0) this.#nodes.set(key, nodes);
    else this.#nodes.delete(key);
  }
}
