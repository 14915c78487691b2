/**
 * Which nodes' Pods name which ConfigMaps and Secrets. Kept up as Pods come and go, so that a changed object asks for
 * its nodes and not for all Pods of the fleet; a node is given what stands here under its name and nothing else.
 */

import { handoverAnnotationOf, withSuccessor } from '../../../shared/kube/handovers/host-handover.js';
import {
  type ConfigReference,
  configKey,
  configReferences,
} from '../../../shared/kube/pods/config-reference.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { ObjectChange } from '../../informers/informer.js';

/** A Pod came to a node or left it: what it names. */
interface ReferenceChange {
  node: string;
  references: readonly ConfigReference[];
}

export class ConfigReferences {
  /** By object: how many Pods of each node name it. */
  readonly #nodes = new Map<string, Map<string, number>>();

  /** Takes a Pod's change in. While it is bound only its turn may name something else, so most changes cost nothing. */
  podChanged({ previous, current }: ObjectChange<Pod>): ReferenceChange[] {
    const isSameNode = previous && current && previous.spec.nodeName === current.spec.nodeName;
    if (isSameNode && handoverAnnotationOf(previous) === handoverAnnotationOf(current)) return [];
    return [...this.#count(previous, -1), ...this.#count(current, 1)];
  }

  /** The nodes of which at least one Pod names the object. */
  nodesReferencing(reference: ConfigReference): string[] {
    return [...(this.#nodes.get(configKey(reference))?.keys() ?? [])];
  }

  /** True when a Pod of this node names the object. */
  isReferenced(node: string, reference: ConfigReference): boolean {
    return this.#nodes.get(configKey(reference))?.has(node) ?? false;
  }

  #count(pod: Pod | undefined, step: 1 | -1): ReferenceChange[] {
    const node = pod?.spec.nodeName;
    if (!pod || !node) return [];
    const references = withSuccessor(pod).flatMap(configReferences);
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
