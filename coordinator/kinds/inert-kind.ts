/** Kinds that are stored and served but have no effect, because charts and manifests contain them. */
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import type { Kind } from './kind.js';
import { STANDARD_VERBS } from './kind.js';

/** The parts that differ between such kinds. */
type InertKind<T extends KubeObject> = Pick<
  Kind<T>,
  'group' | 'kind' | 'resource' | 'singular' | 'namespaced' | 'schema' | 'columns'
> &
  Partial<Kind<T>>;

/** Returns a kind with these rules and defaults for the rest. Each write warns that the object has no effect. */
export function inertKind<T extends KubeObject>(rules: InertKind<T>): Kind<T> {
  return {
    version: 'v1',
    shortNames: [],
    categories: [],
    verbs: STANDARD_VERBS,
    subresources: {},
    fields: {},
    hasGeneration: false,
    nameRule: 'dnsSubdomain',
    setDefaults: () => undefined,
    prepareForCreate: () => undefined,
    prepareForUpdate: () => undefined,
    validate: () => [],
    validateUpdate: () => [],
    warnings: () => [`${rules.kind}: stored, but has no effect`],
    ...rules,
  };
}
