/** Selects the handler of a request. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { verbsAt } from '../discovery/resource-scope.js';
import type { ResourceTable } from '../discovery/resource-table.js';
import type { ServedResource } from '../discovery/served-resource.js';
import type { ApiDeps, ApiRequest, ApiResponse } from './api-context.js';
import type { ResourceRequest } from './request-info.js';
import { methodNotAllowed, pathNotFound } from './status-response.js';

/** Returns the resource if it supports this verb at this path. Throws ApiError: 404, 405. */
export function findServedResource(resources: ResourceTable, info: ResourceRequest): ServedResource {
  const resource = resources.find(info);
  if (!resource) throw pathNotFound();
  const verbs = verbsAt(resource, info);
  const { refusal } = resource;
  if (refusal !== undefined && !verbs.includes(info.verb)) throw new ApiError('MethodNotAllowed', refusal);
  if (verbs.length === 0) throw pathNotFound();
  if (!verbs.includes(info.verb)) throw methodNotAllowed();
  return resource;
}

/** Handles an authorized request. Throws ApiError: 404, 405, and the errors of the handler. */
export async function dispatchRequest(
  resources: ResourceTable,
  deps: ApiDeps,
  request: ApiRequest,
): Promise<ApiResponse> {
  const { info } = request;
  const resource = findServedResource(resources, info);
  const { subresource } = info;
  if (subresource === undefined) return resource.handle(deps, request);
  const handler = resource.subresourceHandlers[subresource];
  if (!handler) throw pathNotFound();
  return handler(deps, request);
}
