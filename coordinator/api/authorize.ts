/** Who may do what. One administrator today; roles will be decided here. */
import { ApiError } from '../../shared/kube/status.js';
import { ADMIN_GROUP, type UserInfo } from './authenticate.js';
import type { RequestInfo, ResourceRequest } from './request-info.js';

/** Paths that say nothing worth hiding, as upstream's `system:public-info-viewer`. */
const PUBLIC_PATHS = new Set(['/healthz', '/livez', '/readyz', '/version']);

/** Whether a path is answered without asking who it is for. */
export function isPublic(info: RequestInfo): boolean {
  return info.type === 'path' && PUBLIC_PATHS.has(info.path);
}

/** Whether this user may use the API. A node's credential is good for its link alone. */
export function mayUse(user: UserInfo): boolean {
  return user.groups.includes(ADMIN_GROUP);
}

/** 403 in upstream's words (`pkg/endpoints/handlers/responsewriters/errors.go`). */
function forbidden(user: UserInfo, request: ResourceRequest): ApiError {
  const resource = request.subresource ? `${request.resource}/${request.subresource}` : request.resource;
  const qualified = request.group ? `${resource}.${request.group}` : resource;
  const where = request.namespace ? ` in the namespace "${request.namespace}"` : ' at the cluster scope';
  const name = request.name ? ` "${request.name}"` : '';
  return new ApiError(
    'Forbidden',
    `${qualified}${name} is forbidden: User "${user.username}" cannot ${request.verb} resource "${resource}" in API group "${request.group}"${where}`,
    { ...(request.name ? { name: request.name } : {}), group: request.group, kind: request.resource },
  );
}

/** Throws 403 when the user may not. */
export function authorize(user: UserInfo, info: RequestInfo): void {
  if (mayUse(user)) return;
  if (info.type === 'resource') throw forbidden(user, info);
  const path = info.type === 'path' ? info.path : '';
  throw new ApiError('Forbidden', `forbidden: User "${user.username}" cannot use path "${path}"`);
}
