/** A resource of the API: its description for discovery, and its handlers. */

import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import type { DiscoveredResource } from './discovery-documents.js';

export type Handler = (deps: ApiDeps, request: ApiRequest) => Promise<ApiResponse>;

export interface ServedResource extends DiscoveredResource {
  /** False hides it from discovery, because its responses are not the objects and lists that generic clients expect. */
  readonly isDiscovered: boolean;
  /** Name of its definition in the OpenAPI schema, if there is one. */
  readonly schema?: string;
  /** Message of the 405 for every verb that the resource does not have. Absent: upstream's message. */
  readonly refusal?: string;
  readonly handle: Handler;
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

/** Returns the description of a review. Its `create` returns the status and stores nothing. */
export function reviewResource(group: string, kind: string, namespaced = false): DiscoveredResource {
  return { ...computedResource(kind, `${kind.toLowerCase()}s`, ['create']), group, namespaced };
}
