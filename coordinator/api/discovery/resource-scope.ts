/** The paths of a resource and their verbs. */

import type { ResourceRequest } from '../http/request-info.js';
import type { DiscoveredResource } from './discovery-documents.js';

type ScopedResource = Pick<DiscoveredResource, 'namespaced' | 'verbs' | 'subresources'>;

/** The table of all resources, as far as `AuthFilter` needs it. */
export interface ResourceScopes {
  /** Returns undefined for an unknown resource. */
  find(name: Pick<ResourceRequest, 'group' | 'version' | 'resource'>): ScopedResource | undefined;
}

type Place = Pick<ResourceRequest, 'namespace' | 'name' | 'subresource'>;

/** Verbs on one object: the path ends with its name. */
const NAMED_VERBS: ReadonlySet<string> = new Set(['get', 'update', 'patch', 'delete']);
/** The only verbs of a namespaced resource on a path without a namespace. */
const VERBS_OF_ALL_NAMESPACES: ReadonlySet<string> = new Set(['list', 'watch']);

/**
 * Returns the verbs of this path; [] if the path does not exist. The paths are those of kube-apiserver
 * (`pkg/endpoints/installer.go`): a cluster-scoped resource has none below a namespace, and a namespaced one supports
 * only list and watch without a namespace.
 */
export function verbsAt(
  resource: ScopedResource,
  { namespace, name, subresource }: Place,
): readonly string[] {
  if (!resource.namespaced && namespace !== undefined) return [];
  const isAcrossAll = resource.namespaced && namespace === undefined;
  if (isAcrossAll && name !== undefined) return [];
  if (subresource !== undefined) {
    return Object.hasOwn(resource.subresources, subresource)
      ? (resource.subresources[subresource]?.verbs ?? [])
      : [];
  }
  return resource.verbs.filter(
    (verb) =>
      NAMED_VERBS.has(verb) === (name !== undefined) && (!isAcrossAll || VERBS_OF_ALL_NAMESPACES.has(verb)),
  );
}

/** True if the path has the scope of its resource. Roles must not be evaluated for other paths. */
export function hasRightScope(
  resource: Pick<ScopedResource, 'namespaced' | 'verbs'>,
  { namespace, name }: Pick<Place, 'namespace' | 'name'>,
): boolean {
  if (!resource.namespaced) return namespace === undefined;
  if (namespace !== undefined) return true;
  return name === undefined && resource.verbs.some((verb) => VERBS_OF_ALL_NAMESPACES.has(verb));
}
