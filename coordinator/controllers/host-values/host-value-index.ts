/**
 * Finds the values of a host without a scan of all HostValues: objects that name hosts are indexed by host, objects with
 * a selector by one label that it requires. Without HostValues it holds nothing.
 */
import { createHash } from 'node:crypto';
import type { HostValue, HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type Matcher } from '../../../shared/kube/objects/selectors.js';
import type { NodeValues, ValueCandidate } from '../../decisions/host-values/value-resolution.js';
import { resolveValues } from '../../decisions/host-values/value-resolution.js';
import type { ValueUses } from '../../decisions/host-values/value-uses.js';
import { BY_NAMESPACE, type Informers } from '../../informers/informer.js';
import { LabelBuckets, push } from './label-buckets.js';

type HostValuesInformer = Pick<Informers['hostValues'], 'indexed' | 'onChange'>;
type NodeMeta = Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>;

interface Layer {
  object: HostValues;
  matches: Matcher;
}

/** The objects of one namespace. `byHost`: those that name the host. */
interface NamespaceLayers {
  byLabel: LabelBuckets<Layer>;
  byHost: Map<string, HostValues[]>;
  /** By the keys that a template uses. */
  digests: Map<string, string>;
}

export class HostValueIndex {
  readonly #hostValues: HostValuesInformer;
  /** Built on demand, and dropped when an object of the namespace changes. */
  readonly #namespaces = new Map<string, NamespaceLayers>();

  constructor(hostValues: HostValuesInformer) {
    this.#hostValues = hostValues;
    hostValues.onChange(({ previous, current }) => {
      this.#namespaces.delete((current ?? previous)?.metadata.namespace ?? '');
    });
  }

  /** Returns what each object of the namespace gives the node for the key. */
  candidates(namespace: string, node: NodeMeta, key: string): ValueCandidate[] {
    return this.#candidates(namespace, node, key);
  }

  /** Returns the values that a Pod of the namespace gets on the node, or why it cannot have them. */
  valuesOn(namespace: string, node: NodeMeta, uses: ValueUses): NodeValues {
    return resolveValues(uses.paths, node, (key) => this.#candidates(namespace, node, key));
  }

  /**
   * Identifies all that the namespace's objects say about these keys. Another digest is a change that goes through the
   * waves. Undefined if no key is used.
   */
  digest(namespace: string, keys: readonly string[]): string | undefined {
    if (keys.length === 0) return undefined;
    const { digests } = this.#layersOf(namespace);
    const id = keys.join(',');
    const known = digests.get(id);
    if (known !== undefined) return known;
    const hash = createHash('sha256');
    const objects = [...this.#hostValues.indexed(BY_NAMESPACE, namespace)];
    objects.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    for (const object of objects) hash.update(digestText(object, keys));
    const digest = hash.digest('hex').slice(0, 8);
    digests.set(id, digest);
    return digest;
  }

  #candidates(namespace: string, { name, labels = {} }: NodeMeta, key: string): ValueCandidate[] {
    const { byLabel, byHost } = this.#layersOf(namespace);
    if (byLabel.isEmpty && byHost.size === 0) return [];
    const named = (byHost.get(name) ?? []).flatMap((object) =>
      candidate(object, true, ownValue(object.spec.hosts?.[name], key)),
    );
    const selected = byLabel.candidates(labels).flatMap(({ object, matches }) => {
      const value = valueIn(object, key);
      return value !== undefined && matches.matches(labels) ? candidate(object, false, value) : [];
    });
    return [...named, ...selected];
  }

  #layersOf(namespace: string): NamespaceLayers {
    const known = this.#namespaces.get(namespace);
    if (known) return known;
    const layers: NamespaceLayers = { byLabel: new LabelBuckets(), byHost: new Map(), digests: new Map() };
    for (const object of this.#hostValues.indexed(BY_NAMESPACE, namespace)) {
      for (const host of Object.keys(object.spec.hosts ?? {})) push(layers.byHost, host, object);
      if (!object.spec.values && !object.spec.secrets) continue;
      const matches = compileLabelSelector(object.spec.nodeSelector ?? {});
      layers.byLabel.add(object.spec.nodeSelector, { object, matches });
    }
    this.#namespaces.set(namespace, layers);
    return layers;
  }
}

function valueIn({ spec }: HostValues, key: string): HostValue | undefined {
  const text = ownValue(spec.values, key);
  if (text !== undefined) return text;
  const reference = ownValue(spec.secrets, key);
  // The order of the keys in the manifest must not change the text of the annotation.
  return reference && { secretKeyRef: { name: reference.name, key: reference.key } };
}

function candidate(object: HostValues, isNamed: boolean, value: HostValue | undefined): ValueCandidate[] {
  if (value === undefined) return [];
  return [{ from: object.metadata.name, priority: object.spec.priority ?? 0, isNamed, value }];
}

/** By object, then by the keys: only a changed object is visited again. */
const digestTexts = new WeakMap<HostValues, Map<string, string>>();

function digestText(object: HostValues, keys: readonly string[]): string {
  const texts = digestTexts.get(object) ?? new Map<string, string>();
  digestTexts.set(object, texts);
  const id = keys.join(',');
  const known = texts.get(id);
  if (known !== undefined) return known;
  const text = textAbout(object, keys);
  texts.set(id, text);
  return text;
}

/** Returns '' for an object that has none of the keys: it must not start a rollout. */
function textAbout(object: HostValues, keys: readonly string[]): string {
  const { priority = 0, nodeSelector, hosts = {} } = object.spec;
  const selected = keys.flatMap((key) => {
    const value = valueIn(object, key);
    return value === undefined ? [] : [[key, value]];
  });
  const named = Object.entries(hosts).flatMap(([host, values]) => {
    const own = keys.flatMap((key) => (Object.hasOwn(values, key) ? [[key, values[key]]] : []));
    return own.length > 0 ? [[host, own]] : [];
  });
  if (selected.length === 0 && named.length === 0) return '';
  named.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  const scope = selected.length > 0 ? nodeSelector : undefined;
  return JSON.stringify([object.metadata.name, priority, scope, selected, named]);
}
