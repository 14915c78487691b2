/**
 * Finds the values of a host without a scan of all HostValues: objects that name hosts are indexed by host, objects with
 * a selector by one label that it requires. Without HostValues it holds nothing.
 */
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import type { NodeValues, ValueCandidate } from '../../decisions/host-values/value-resolution.js';
import { resolveValues } from '../../decisions/host-values/value-resolution.js';
import type { ValueUses } from '../../decisions/host-values/value-uses.js';
import { BY_NAMESPACE, type Informers } from '../../informers/informer.js';
import { NamespaceLayers } from './host-value-layers.js';

type HostValuesInformer = Pick<Informers['hostValues'], 'indexed' | 'onChange'>;
type NodeMeta = Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>;

export class HostValueIndex {
  readonly #hostValues: HostValuesInformer;
  /** Built on demand, and then updated with each change. */
  readonly #namespaces = new Map<string, NamespaceLayers>();

  constructor(hostValues: HostValuesInformer) {
    this.#hostValues = hostValues;
    hostValues.onChange(({ previous, current }) => {
      const { namespace = '', name = '' } = (current ?? previous)?.metadata ?? {};
      const layers = this.#namespaces.get(namespace);
      if (current) layers?.set(current);
      else layers?.delete(name);
      if (layers?.isEmpty) this.#namespaces.delete(namespace);
    });
  }

  /** Returns what each object of the namespace gives the node for the key. */
  candidates(namespace: string, node: NodeMeta, key: string): ValueCandidate[] {
    return this.#layersOf(namespace).candidates(node, key);
  }

  /** Returns the values that a Pod of the namespace gets on the node, or why it cannot have them. */
  valuesOn(namespace: string, node: NodeMeta, uses: ValueUses): NodeValues {
    return resolveValues(uses.paths, node, (key) => this.candidates(namespace, node, key));
  }

  /**
   * Identifies all that the namespace's objects say about these keys. Another digest is a change that goes through the
   * waves. Undefined if no key is used.
   */
  digest(namespace: string, keys: readonly string[]): string | undefined {
    return keys.length === 0 ? undefined : this.#layersOf(namespace).digest(keys);
  }

  #layersOf(namespace: string): NamespaceLayers {
    const known = this.#namespaces.get(namespace);
    if (known) return known;
    const layers = new NamespaceLayers(this.#hostValues.indexed(BY_NAMESPACE, namespace));
    this.#namespaces.set(namespace, layers);
    return layers;
  }
}
