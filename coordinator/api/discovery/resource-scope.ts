/** The paths of a resource, and the verbs that each path takes. */

import type { ResourceRequest } from '../http/request-info.js';
import type { DiscoveredResource } from './discovery-documents.js';

type ScopedResource = Pick<DiscoveredResource, 'namespaced' | 'verbs' | 'subresources'>;

/** The table of all resources, as the authFilter reads it. */
export interface ResourceScopes {
  /** Undefined for a resource that is not served. */
  find(name: Pick<ResourceRequest, 'group' | 'version' | 'resource'>): ScopedResource | undefined;
}

type Place = Pick<ResourceRequest, 'namespace' | 'name' | 'subresource'>;

/** Verbs on one object: their path ends in its name. */
const NAMED_VERBS: ReadonlySet<string> = new Set(['get', 'update', 'patch', 'delete']);
/** The only verbs of a namespaced resource on a path without a namespace. */
const VERBS_OF_ALL_NAMESPACES: ReadonlySet<string> = new Set(['list', 'watch']);

/**
 * Verbs that are served at this path; [] = the path does not exist. These are the routes that apiserver installs for a
 * resource (`pkg/endpoints/installer.go`): a cluster-scoped resource has none below a namespace, and a namespaced one
 * has only the list and the watch of all namespaces outside of one.
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

/** True if the path has the scope of its resource. Only then may roles decide about it. */
export function hasRightScope(
  resource: Pick<ScopedResource, 'namespaced' | 'verbs'>,
  { namespace, name }: Pick<Place, 'namespace' | 'name'>,
): boolean {
  if (!resource.namespaced) return namespace === undefined;
  if (namespace !== undefined) return true;
  return name === undefined && resource.verbs.some((verb) => VERBS_OF_ALL_NAMESPACES.has(verb));
}
