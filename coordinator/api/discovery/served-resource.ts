/** A resource that the API serves: its description for discovery, and its handlers. */

import type { ApiDeps, ApiRequest } from '../http/api-context.js';
import type { ApiResponse } from '../http/api-response.js';
import type { DiscoveredResource } from './discovery-documents.js';

export type Handler = (parts: ApiDeps, request: ApiRequest) => Promise<ApiResponse>;

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
