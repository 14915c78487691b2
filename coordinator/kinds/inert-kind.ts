/** Kinds that are stored and served without effect yet, because charts and manifests bring them along. */
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import type { Kind } from './kind.js';
import { STANDARD_VERBS } from './kind.js';

/** What tells one such kind from another; the rest has defaults. */
type InertKind<T extends KubeObject> = Pick<
  Kind<T>,
  'group' | 'kind' | 'resource' | 'singular' | 'namespaced' | 'schema' | 'columns'
> &
  Partial<Kind<T>>;

/** A kind with no rules but its own. Each write warns that nothing comes of it. */
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
    warnings: () => [`${rules.kind}: stored, but without effect yet`],
    ...rules,
  };
}
