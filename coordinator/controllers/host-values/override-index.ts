/**
 * Finds the overrides of a DaemonSet on a node, and caches the templates that they make. Nodes with the same overrides
 * share one template. Without DaemonSetOverrides it holds nothing.
 */
import { createHash } from 'node:crypto';
import type { DaemonSetOverride } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { ObjectMeta } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type Matcher } from '../../../shared/kube/objects/selectors.js';
import { valueUsesOf } from '../../decisions/host-values/value-uses.js';
import {
  type OverriddenTemplate,
  overriddenTemplate,
} from '../../decisions/overrides/overridden-template.js';
import { overrideFields } from '../../decisions/overrides/override-fields.js';
import { type NodeOverride, resolveOverrides } from '../../decisions/overrides/override-resolution.js';
import { BY_NAMESPACE, type Informer } from '../../informers/informer.js';
import { validatePodTemplate } from '../../kinds/pods/spec-validation/pod-spec-validation.js';
import { LabelBuckets, push } from './label-buckets.js';

/** The informer, or an overlay of it. */
export type OverridesReader = Pick<Informer<DaemonSetOverride>, 'indexed' | 'onChange'>;

interface Layer extends NodeOverride {
  matches: Matcher;
}

/** What overrides make of a DaemonSet on a node. */
type OverriddenDaemonSet =
  | (Extract<OverriddenTemplate, { kind: 'merged' }> & { daemonSet: DaemonSet })
  | { kind: 'refused'; message: string };

/** The overrides of one DaemonSet. */
interface Layers {
  byLabel: LabelBuckets<Layer>;
  /** Keys of HostValues that the overrides use. */
  keys: readonly string[];
  /** Identifies all that the overrides say. */
  digest: string;
  /** By DaemonSet, then by the names of the overrides. The informers' objects are replaced and never changed. */
  made: WeakMap<DaemonSet['spec'], Map<string, OverriddenTemplate>>;
}

export class OverrideIndex {
  readonly #overrides: OverridesReader;
  /** By namespace, then by DaemonSet. Built on demand, and dropped when an override of the namespace changes. */
  readonly #namespaces = new Map<string, ReadonlyMap<string, Layers>>();

  constructor(overrides: OverridesReader) {
    this.#overrides = overrides;
    overrides.onChange(({ previous, current }) => {
      this.#namespaces.delete((current ?? previous)?.metadata.namespace ?? '');
    });
  }

  /** Returns undefined if no override selects the node. */
  on(daemonSet: DaemonSet, { labels = {} }: Pick<ObjectMeta, 'labels'>): OverriddenDaemonSet | undefined {
    const layers = this.#of(daemonSet);
    if (!layers) return undefined;
    const present = layers.byLabel.candidates(labels).filter(({ matches }) => matches.matches(labels));
    if (present.length === 0) return undefined;
    const id = present
      .map(({ name }) => name)
      .sort()
      .join(',');
    const made = layers.made.get(daemonSet.spec) ?? new Map<string, OverriddenTemplate>();
    layers.made.set(daemonSet.spec, made);
    const known = made.get(id) ?? checked(daemonSet, present);
    made.set(id, known);
    return known.kind === 'refused' ? known : { ...known, daemonSet: withTemplateOf(daemonSet, known) };
  }

  /** Identifies all overrides of the DaemonSet, or undefined if it has none. Another digest is another rollout. */
  digest(daemonSet: DaemonSet): string | undefined {
    return this.#of(daemonSet)?.digest;
  }

  /** Returns the keys of HostValues that overrides of the DaemonSet use. */
  keys(daemonSet: DaemonSet): readonly string[] {
    return this.#of(daemonSet)?.keys ?? [];
  }

  #of({ metadata: { namespace = '', name } }: DaemonSet): Layers | undefined {
    const known = this.#namespaces.get(namespace);
    if (known) return known.get(name);
    const byName = new Map<string, DaemonSetOverride[]>();
    for (const each of this.#overrides.indexed(BY_NAMESPACE, namespace)) {
      push(byName, each.spec.daemonSetName, each);
    }
    const layers = new Map([...byName].map(([daemonSet, objects]) => [daemonSet, layersOf(objects)]));
    this.#namespaces.set(namespace, layers);
    return layers.get(name);
  }
}

function layersOf(objects: readonly DaemonSetOverride[]): Layers {
  const byLabel = new LabelBuckets<Layer>();
  for (const { metadata, spec } of objects) {
    const matches = compileLabelSelector(spec.nodeSelector ?? {});
    const { priority = 0, nodeSelector } = spec;
    byLabel.add(nodeSelector, { name: metadata.name, priority, fields: overrideFields(spec), matches });
  }
  const sorted = [...objects].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const hash = createHash('sha256');
  for (const { metadata, spec } of sorted) hash.update(JSON.stringify([metadata.name, spec]));
  const keys = objects.flatMap(({ spec }) => valueUsesOf(templateLike(spec))?.keys ?? []);
  return { byLabel, keys: [...new Set(keys)], digest: hash.digest('hex').slice(0, 8), made: new WeakMap() };
}

/** The uses of values are found at the same places as in a template. */
function templateLike({ containers = [], volumes = [] }: DaemonSetOverride['spec']) {
  const named = containers.map(({ name, image = '', env = [] }) => ({ name, image, env }));
  return { spec: { containers: named, volumes } };
}

/** A merge of valid parts may be invalid: a limit below its request. Found here, the old Pod is kept. */
function checked({ spec }: DaemonSet, overrides: readonly NodeOverride[]): OverriddenTemplate {
  const resolution = resolveOverrides(overrides);
  if (resolution.kind === 'refused') return resolution;
  const result = overriddenTemplate(spec.template, resolution.fields);
  if (result.kind === 'refused' || result.applied.length === 0) return result;
  const [error] = validatePodTemplate(result.template, 'spec.template');
  if (!error) return result;
  const names = [...new Set(result.applied.map(({ from }) => from))].sort().join(', ');
  const message = `DaemonSetOverride ${names} makes an invalid Pod: ${error.field}: ${error.message}`;
  return { kind: 'refused', message };
}

/** By DaemonSet, then by template: callers cache by the returned object. */
const known = new WeakMap<DaemonSet, WeakMap<DaemonSet['spec']['template'], DaemonSet>>();
/** By template: all versions of a DaemonSet share the spec until it changes. */
const specs = new WeakMap<DaemonSet['spec']['template'], DaemonSet['spec']>();

function withTemplateOf(
  daemonSet: DaemonSet,
  { template }: Extract<OverriddenTemplate, { kind: 'merged' }>,
): DaemonSet {
  if (template === daemonSet.spec.template) return daemonSet;
  const others = known.get(daemonSet) ?? new WeakMap<DaemonSet['spec']['template'], DaemonSet>();
  known.set(daemonSet, others);
  const present = others.get(template);
  if (present) return present;
  const spec = specs.get(template) ?? { ...daemonSet.spec, template };
  specs.set(template, spec);
  const made = { ...daemonSet, spec };
  others.set(template, made);
  return made;
}
