/** Reviews of authentication.k8s.io/v1: SelfSubjectReview and TokenReview. */
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { ISSUER } from '../../access/service-account-tokens.js';
import { reviewResource } from '../discovery/served-resource.js';
import type { ApiDeps } from '../http/api-context.js';

const GROUP = 'authentication.k8s.io';

export const IDENTITY_REVIEWS = [
  reviewResource(GROUP, 'SelfSubjectReview'),
  reviewResource(GROUP, 'TokenReview'),
] as const;

export function userDocument({ username, uid, groups, extra }: UserInfo): object {
  return { username, ...(uid ? { uid } : {}), groups, ...(extra ? { extra } : {}) };
}

/**
 * Returns the user of a valid token. The audience is the API, unless the review names audiences: then only tokens of
 * ServiceAccounts are valid. Throws 400.
 */
export async function tokenReviewStatus(
  { identities }: Pick<ApiDeps, 'identities'>,
  spec: Record<string, unknown>,
): Promise<object> {
  const { token } = spec;
  if (typeof token !== 'string' || token === '')
    throw badRequest('token is required for TokenReview in authentication');
  const audiences = textList(spec.audiences);
  const found = await identities.reviewToken(token, audiences.length > 0 ? audiences : [ISSUER]);
  if ('error' in found)
    return { authenticated: false, user: {}, ...(found.error ? { error: found.error } : {}) };
  return {
    authenticated: true,
    user: userDocument(found.user),
    ...(audiences.length > 0 ? { audiences: found.audiences } : {}),
  };
}

function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
