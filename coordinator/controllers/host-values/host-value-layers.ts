/**
 * The HostValues objects of one namespace, by host and by label. A change of an object updates what differs: an object
 * may name thousands of hosts, and mostly the value of one of them changes.
 */
import { createHash } from 'node:crypto';
import type { HostValue, HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type Matcher } from '../../../shared/kube/objects/selectors.js';
import type { ValueCandidate } from '../../decisions/host-values/value-resolution.js';
import { ObjectTexts, valueIn } from './host-digests.js';
import { LabelBuckets, push } from './label-buckets.js';

type NodeMeta = Pick<ObjectMeta, 'name' | 'labels' | 'annotations'>;

/**
 * An object in its current version. `texts`: by the keys that templates use. `lastTexts`: of its last version. Texts that
 * no template has used since are dropped with it.
 */
interface Layer {
  object: HostValues;
  texts: Map<string, ObjectTexts>;
  lastTexts: Map<string, ObjectTexts>;
}

/** A layer whose object has values for selected hosts. */
interface SelectingLayer {
  layer: Layer;
  matches: Matcher;
}

export class NamespaceLayers {
  readonly #layers = new Map<string, Layer>();
  readonly #byHost = new Map<string, Layer[]>();
  /** Built on demand, and dropped when an object with a selector changes. */
  #byLabel: LabelBuckets<SelectingLayer> | undefined;
  /** By the keys that a template uses. Dropped when any object changes. */
  readonly #digests = new Map<string, string>();

  constructor(objects: readonly HostValues[]) {
    for (const object of objects) this.set(object);
  }

  get isEmpty(): boolean {
    return this.#layers.size === 0;
  }

  /** Adds the object, or replaces its last version. */
  set(object: HostValues): void {
    const { name } = object.metadata;
    const present = this.#layers.get(name);
    if (present?.object === object) return;
    const layer = present ?? { object, texts: new Map(), lastTexts: new Map() };
    const before = present ? hostsOf(present.object) : {};
    const after = hostsOf(object);
    if (before !== after) {
      for (const host of Object.keys(before)) if (!Object.hasOwn(after, host)) this.#removeHost(host, layer);
      for (const host of Object.keys(after))
        if (!Object.hasOwn(before, host)) push(this.#byHost, host, layer);
    }
    if (selects(object) || (present && selects(present.object))) this.#byLabel = undefined;
    Object.assign(layer, { object, texts: new Map(), lastTexts: layer.texts });
    this.#layers.set(name, layer);
    this.#digests.clear();
  }

  delete(name: string): void {
    const layer = this.#layers.get(name);
    if (!layer) return;
    for (const host of Object.keys(hostsOf(layer.object))) this.#removeHost(host, layer);
    if (selects(layer.object)) this.#byLabel = undefined;
    this.#layers.delete(name);
    this.#digests.clear();
  }

  /** Returns what each object gives the node for the key. */
  candidates({ name, labels = {} }: NodeMeta, key: string): ValueCandidate[] {
    if (this.isEmpty) return [];
    const named = (this.#byHost.get(name) ?? []).flatMap(({ object }) =>
      candidate(object, true, ownValue(object.spec.hosts?.[name], key)),
    );
    this.#byLabel ??= this.#labelBuckets();
    const selected = this.#byLabel.candidates(labels).flatMap(({ layer: { object }, matches }) => {
      const value = valueIn(object, key);
      return value !== undefined && matches.matches(labels) ? candidate(object, false, value) : [];
    });
    return [...named, ...selected];
  }

  /** Identifies all that the objects say about these keys. */
  digest(keys: readonly string[]): string {
    const id = keys.join(',');
    const known = this.#digests.get(id);
    if (known !== undefined) return known;
    const hash = createHash('sha256');
    const layers = [...this.#layers].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [, layer] of layers) {
      const texts = layer.texts.get(id) ?? layer.lastTexts.get(id) ?? new ObjectTexts(keys);
      layer.texts.set(id, texts);
      hash.update(texts.of(layer.object));
    }
    const digest = hash.digest('hex').slice(0, 8);
    this.#digests.set(id, digest);
    return digest;
  }

  #labelBuckets(): LabelBuckets<SelectingLayer> {
    const buckets = new LabelBuckets<SelectingLayer>();
    for (const layer of this.#layers.values()) {
      const { nodeSelector } = layer.object.spec;
      if (selects(layer.object))
        buckets.add(nodeSelector, { layer, matches: compileLabelSelector(nodeSelector ?? {}) });
    }
    return buckets;
  }

  #removeHost(host: string, layer: Layer): void {
    const others = (this.#byHost.get(host) ?? []).filter((each) => each !== layer);
    if (others.length > 0) this.#byHost.set(host, others);
    else this.#byHost.delete(host);
  }
}

function hostsOf({ spec }: HostValues): NonNullable<HostValues['spec']['hosts']> {
  return spec.hosts ?? {};
}

function selects({ spec }: HostValues): boolean {
  return spec.values !== undefined || spec.secrets !== undefined;
}

function candidate(object: HostValues, isNamed: boolean, value: HostValue | undefined): ValueCandidate[] {
  if (value === undefined) return [];
  return [{ from: object.metadata.name, priority: object.spec.priority ?? 0, isNamed, value }];
}
