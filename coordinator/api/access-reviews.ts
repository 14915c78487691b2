/** Reviews that ask about the asker: what may I do, who am I. Answered, never stored. */
import { badRequest } from '../../shared/kube/status.js';
import type { UserInfo } from './authenticate.js';
import { mayUse } from './authorize.js';
import type { DiscoveredResource } from './discovery.js';

function review(group: string, kind: string): DiscoveredResource {
  return {
    group,
    version: 'v1',
    kind,
    resource: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: false,
    verbs: ['create'],
    subresources: {},
  };
}

/** For discovery. */
export const REVIEW_RESOURCES: readonly DiscoveredResource[] = [
  review('authentication.k8s.io', 'SelfSubjectReview'),
  review('authorization.k8s.io', 'SelfSubjectAccessReview'),
  review('authorization.k8s.io', 'SelfSubjectRulesReview'),
];

/** `pkg/registry/authorization`: one rule says it all while there is one administrator. */
function rulesStatus(user: UserInfo): object {
  const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
  const anyPath = [{ verbs: ['*'], nonResourceURLs: ['*'] }];
  return mayUse(user)
    ? { resourceRules: everything, nonResourceRules: anyPath, incomplete: false }
    : { resourceRules: [], nonResourceRules: [], incomplete: false };
}

function statusOf(kind: string, user: UserInfo): object {
  switch (kind) {
    case 'SelfSubjectReview':
      return { userInfo: { username: user.username, groups: user.groups } };
    case 'SelfSubjectRulesReview':
      return rulesStatus(user);
    default:
      return { allowed: mayUse(user) };
  }
}

/** The review of that resource with its status filled in. Throws 400 when the body is no object. */
export function answerReview(resource: DiscoveredResource, body: unknown, user: UserInfo): object {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest(`the body of the request is not a ${resource.kind}`);
  }
  const { group, version, kind } = resource;
  return { metadata: {}, ...body, kind, apiVersion: `${group}/${version}`, status: statusOf(kind, user) };
}
