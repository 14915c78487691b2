/** Maps requests to RBAC accesses, and builds the 403 with kube-apiserver's message. */
import type { Access, UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { parseFieldSelector, SelectorSyntaxError } from '../../../shared/kube/objects/selectors.js';
import type { AccessDecision, Authorizer } from '../../access/rbac-authorizer.js';
import type { RequestInfo, ResourceRequest } from '../http/request-info.js';

/** Paths without secrets, like upstream's `system:public-info-viewer`. */
const PUBLIC_PATHS = new Set(['/healthz', '/livez', '/readyz', '/version']);
const STREAMED = new Set(['exec', 'attach', 'portforward']);

/** True if the path needs no authentication. */
export function isPublic(info: RequestInfo): boolean {
  return info.type === 'path' && PUBLIC_PATHS.has(info.path);
}

/** Returns the value that a list's field selector requires for a field, or "". */
function selectedValue({ verb, query }: ResourceRequest, field: string): string {
  const selector = query.get('fieldSelector');
  if (!selector || !['list', 'watch', 'deletecollection'].includes(verb)) return '';
  try {
    const one = parseFieldSelector(selector).find((each) => each.field === field && !each.negated);
    return one?.value ?? '';
  } catch (error) {
    // The list handler reports the syntax error.
    if (error instanceof SelectorSyntaxError) return '';
    throw error;
  }
}

/** A list that selects one name counts as an access to that name (`requestinfo.go`). */
function nameOf(request: ResourceRequest): string {
  return request.name ?? selectedValue(request, 'metadata.name');
}

/** Returns the access that a request needs; undefined if no role decides about it. */
export function accessOf(info: RequestInfo): Access | undefined {
  if (info.type === 'refused') return undefined;
  if (info.type === 'path') return { verb: info.method.toLowerCase(), path: info.path };
  const { group, resource, subresource = '', namespace = '' } = info;
  // A namespace is in its own scope: a Role in it can grant reading it.
  const scope = group === '' && resource === 'namespaces' && info.name ? info.name : namespace;
  const nodeName = group === '' && resource === 'pods' ? selectedValue(info, 'spec.nodeName') : '';
  return {
    ...{ verb: info.verb, group, resource, subresource, namespace: scope, name: nameOf(info) },
    ...(nodeName ? { nodeName } : {}),
  };
}

/** Returns 403 with kube-apiserver's message (`pkg/endpoints/handlers/responsewriters/errors.go`, `NewForbidden`). */
export function forbidden(user: UserInfo, access: Access, reason: string): ApiError {
  const because = reason ? `: ${reason}` : '';
  if ('path' in access) {
    const message = `forbidden: User ${quote(user.username)} cannot ${access.verb} path ${quote(access.path)}`;
    return new ApiError('Forbidden', message + because, {});
  }
  const { verb, group, resource, subresource, namespace, name } = access;
  const qualified = group ? `${resource}.${group}` : resource;
  const whole = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace ? `in the namespace ${quote(namespace)}` : 'at the cluster scope';
  const subject = name ? `${qualified} ${quote(name)}` : qualified;
  const message = `${subject} is forbidden: User ${quote(user.username)} cannot ${verb} resource ${quote(whole)} in API group ${quote(group)} ${where}`;
  const details = { ...(name ? { name } : {}), ...(group ? { group } : {}), kind: resource };
  return new ApiError('Forbidden', message + because, details);
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/** Throws 403 if no role allows the access. */
export function requireAccess(authorizer: Authorizer, user: UserInfo, access: Access): AccessDecision {
  const decision = authorizer.decide(user, access);
  if (!decision.allowed) throw forbidden(user, access, decision.reason);
  return decision;
}

/**
 * Returns the decision that allows the request. Throws 403. A WebSocket opens a stream into a container by GET, which
 * needs `create` as well (feature AuthorizePodWebsocketUpgradeCreatePermission).
 */
export function authorize(
  authorizer: Authorizer,
  user: UserInfo,
  info: RequestInfo,
): AccessDecision | undefined {
  const access = accessOf(info);
  if (!access) return undefined;
  const decision = requireAccess(authorizer, user, access);
  const isStream = !('path' in access) && access.resource === 'pods' && STREAMED.has(access.subresource);
  if (isStream && access.verb === 'get') requireAccess(authorizer, user, { ...access, verb: 'create' });
  return decision;
}
