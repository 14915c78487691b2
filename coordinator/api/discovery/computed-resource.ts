/** Describes a resource of the group `fleet.everynode.dev` that is computed at each request. */
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { DiscoveredResource } from './discovery-documents.js';

/** Cluster-scoped and without subresources. */
export function computedResource(
  kind: string,
  resource: string,
  verbs: readonly string[],
): DiscoveredResource {
  return {
    ...{ group: FLEET_GROUP, version: 'v1', kind, resource, singular: kind.toLowerCase() },
    ...{ shortNames: [], categories: [], namespaced: false, verbs, subresources: {} },
  };
}
