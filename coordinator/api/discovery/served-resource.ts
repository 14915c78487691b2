/** A resource that the API serves: its description for discovery, and its handlers. */

import { FLEET_GROUP } from '../../../shared/kube/objects/fleet-group.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import type { DiscoveredResource } from './discovery-documents.js';

export type Handler = (deps: ApiDeps, request: ApiRequest) => Promise<ApiResponse>;

/** One row of the table of all resources (`resource-table.ts`). */
export interface ServedResource extends DiscoveredResource {
  /** False: discovery leaves it out, because its answers are not the objects and lists that generic clients expect. */
  readonly isDiscovered: boolean;
  /** Name of its definition in the OpenAPI schema; absent: it has none. */
  readonly schema?: string;
  /** Answers the verbs of `verbs` on the resource itself. */
  readonly handle: Handler;
  /** By the name of the subresource, for each one in `subresources`. */
  readonly subresourceHandlers: Readonly<Record<string, Handler>>;
}

/** Returns the description of a computed resource: cluster-scoped, of `fleet.everynode.dev/v1`, without subresources. */
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

/** Returns the description of a review: its `create` is a question, its `status` the answer, and nothing is stored. */
export function reviewResource(group: string, kind: string, namespaced = false): DiscoveredResource {
  return { ...computedResource(kind, `${kind.toLowerCase()}s`, ['create']), group, namespaced };
}
