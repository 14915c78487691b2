/** Access reviews of authorization.k8s.io/v1. They are computed from the roles and not stored. */
import type { Access, PolicyRule, UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { ApiError, badRequest, invalid } from '../../../shared/kube/objects/api-status.js';
import { nodeOfUser } from '../../access/node-authorizer.js';
import type { Authorizer } from '../../access/rbac-authorizer.js';
import { withAuthenticated } from '../../access/user-groups.js';
import type { JsonMap } from '../../registry/encoding/json-value.js';
import { reviewResource } from '../discovery/served-resource.js';
import type { ApiRequest } from '../http/api-context.js';
import { type AccessSpec, readAccessSpec } from './access-review-spec.js';

const GROUP = 'authorization.k8s.io';

export const ACCESS_REVIEWS = [
  reviewResource(GROUP, 'SelfSubjectAccessReview'),
  reviewResource(GROUP, 'SelfSubjectRulesReview'),
  reviewResource(GROUP, 'SubjectAccessReview'),
  reviewResource(GROUP, 'LocalSubjectAccessReview', true),
] as const;

/** Returns the status of the review. Throws 400, 422. */
export function accessReviewStatus(
  authorizer: Authorizer,
  kind: string,
  unread: JsonMap,
  { user, info }: ApiRequest,
): object {
  const spec = readAccessSpec(kind, unread);
  switch (kind) {
    case 'SelfSubjectAccessReview':
      return decisionOn(authorizer, user, accessIn(kind, spec));
    case 'SelfSubjectRulesReview':
      return rulesStatus(authorizer, user, unread.namespace);
    case 'LocalSubjectAccessReview':
      refuseOutsideOf(kind, spec, info.namespace);
      return decisionOn(authorizer, userIn(kind, spec), accessIn(kind, spec));
    default:
      refuseOtherNodes(user, spec);
      return decisionOn(authorizer, userIn(kind, spec), accessIn(kind, spec));
  }
}

function decisionOn(authorizer: Authorizer, user: UserInfo, access: Access): object {
  const { allowed, reason } = authorizer.decide(user, access);
  return { allowed, ...(reason ? { reason } : {}) };
}

function accessIn(kind: string, spec: AccessSpec): Access {
  const { resourceAttributes: on, nonResourceAttributes: path } = spec;
  if (on && path) {
    throw invalidSpec(
      kind,
      'spec.nonResourceAttributes',
      'cannot be specified in combination with resourceAttributes',
    );
  }
  if (path) return { verb: path.verb ?? '', path: path.path ?? '' };
  if (!on) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    throw invalidSpec(kind, 'spec.resourceAttributes', detail);
  }
  const { verb = '', group = '', resource = '', subresource = '', namespace = '', name = '' } = on;
  return { verb, group, resource, subresource, namespace, name };
}

function userIn(kind: string, { user = '', groups = [], uid, extra }: AccessSpec): UserInfo {
  if (!user && groups.length === 0) {
    throw invalidSpec(kind, 'spec.user', 'at least one of user or group must be specified');
  }
  return { username: user, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) };
}

/**
 * Like `ValidateLocalSubjectAccessReview`. The owner of a namespace may create these reviews, and they must not reveal
 * other users' rights in other namespaces.
 */
function refuseOutsideOf(
  kind: string,
  { resourceAttributes, nonResourceAttributes }: AccessSpec,
  namespace: string | undefined,
): void {
  if (nonResourceAttributes) {
    throw invalidSpec(kind, 'spec.nonResourceAttributes', 'disallowed on this kind of request');
  }
  if (!resourceAttributes || resourceAttributes.namespace === namespace) return;
  throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
}

/** A compromised host must not learn the rights of users beyond its own kubelet's pages. Throws 403. */
function refuseOtherNodes(user: UserInfo, { resourceAttributes: on }: AccessSpec): void {
  const node = nodeOfUser(user);
  const isOwn = on?.resource === 'nodes' && !on.group && on.name === node;
  if (node === undefined || isOwn) return;
  const message = `subjectaccessreviews.authorization.k8s.io is forbidden: node "${node}" may only review access to its own kubelet`;
  throw new ApiError('Forbidden', message, {});
}

function invalidSpec(kind: string, field: string, detail: string) {
  const cause = { reason: 'FieldValueInvalid', field, message: `Invalid value: "": ${detail}` };
  return invalid({ group: GROUP, kind, resource: '' }, '', [cause]);
}

function rulesStatus(authorizer: Authorizer, user: UserInfo, namespace: unknown): object {
  if (typeof namespace !== 'string' || namespace === '') throw badRequest('no namespace on request');
  const { rules, errors } = authorizer.rulesOf(
    { ...user, groups: withAuthenticated(user.groups) },
    namespace,
  );
  return {
    resourceRules: rules.flatMap(resourceRule),
    nonResourceRules: rules.flatMap(({ verbs = [], nonResourceURLs = [] }) =>
      nonResourceURLs.length > 0 ? [{ verbs, nonResourceURLs }] : [],
    ),
    incomplete: errors.length > 0,
    ...(errors.length > 0 ? { evaluationError: errors.join(', ') } : {}),
  };
}

function resourceRule({ verbs = [], apiGroups = [], resources = [], resourceNames }: PolicyRule): object[] {
  if (resources.length === 0) return [];
  return [{ verbs, apiGroups, resources, ...(resourceNames?.length ? { resourceNames } : {}) }];
}
