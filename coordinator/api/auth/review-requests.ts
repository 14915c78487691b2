/** Handles all reviews. */

import { bodyTypeOf } from '../../registry/admission/typed-body.js';
import { isJsonMap } from '../../registry/encoding/json-value.js';
import { requiredBodyOf } from '../bodies/write-body.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import { pathNotFound } from '../http/status-response.js';
import { ACCESS_REVIEWS, accessReviewStatus } from './access-reviews.js';
import { IDENTITY_REVIEWS, tokenReviewStatus, userDocument } from './identity-reviews.js';

export const REVIEW_RESOURCES: readonly DiscoveredResource[] = [...IDENTITY_REVIEWS, ...ACCESS_REVIEWS];

/** Returns 201 with the review and its status. Throws 400, 422. */
export async function handleReview(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { group, version, resource } = request.info;
  const review = REVIEW_RESOURCES.find(
    (candidate) =>
      candidate.group === group && candidate.version === version && candidate.resource === resource,
  );
  if (!review) throw pathNotFound();
  const type = bodyTypeOf(review);
  const body = requiredBodyOf(request, type);
  const status = await statusOf(deps, review, isJsonMap(body.spec) ? body.spec : {}, request);
  return {
    type: 'value',
    code: 201,
    value: { metadata: {}, ...withoutToken(body), ...type, status },
  };
}

function statusOf(
  deps: ApiDeps,
  { kind }: DiscoveredResource,
  spec: Record<string, unknown>,
  request: ApiRequest,
): object | Promise<object> {
  if (kind === 'SelfSubjectReview') return { userInfo: userDocument(request.user) };
  if (kind === 'TokenReview') return tokenReviewStatus(deps, spec);
  return accessReviewStatus(deps.identities.authorizer, kind, spec, request);
}

/** The response does not repeat the token. */
function withoutToken(body: Record<string, unknown>): Record<string, unknown> {
  if (!isJsonMap(body.spec) || !('token' in body.spec)) return body;
  const { token: _, ...spec } = body.spec;
  return { ...body, spec };
}
