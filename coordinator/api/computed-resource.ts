/** A resource of our own group that is computed when it is asked for, and that discovery does not show. */
import { FLEET_GROUP } from '../../shared/kube/fleet-group.js';
import type { DiscoveredResource } from './discovery.js';

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
