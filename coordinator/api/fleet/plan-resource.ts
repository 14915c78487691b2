/** `POST /apis/fleet.everynode.dev/v1/plan`: the effects of applying manifests. Nothing is stored. */

import type { PlanRequest } from '../../../shared/kube/fleet/plan-types.js';
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { readRights } from '../auth/read-rights.js';
import { requiredBody } from '../bodies/write-body.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';

/** Limits the cost of one plan. */
const MOST_MANIFESTS = 1_000;

export const PLAN_RESOURCE = computedResource('Plan', 'plan', ['create']);

/** Throws ApiError 400 for an invalid body. */
export async function handlePlan(
  { planner, identities }: ApiDeps,
  request: ApiRequest,
): Promise<ApiResponse> {
  const body = requiredBody(request) as Partial<PlanRequest> | null;
  const { manifests, namespace, mode } = body ?? {};
  if (!Array.isArray(manifests)) throw badRequest('manifests: a list of objects is required');
  if (manifests.length > MOST_MANIFESTS) throw badRequest(`manifests: at most ${MOST_MANIFESTS}`);
  if (namespace !== undefined && typeof namespace !== 'string') {
    throw badRequest('namespace: must be a string');
  }
  if (mode !== undefined && mode !== 'apply' && mode !== 'replace') {
    throw badRequest('mode: must be "apply" or "replace"');
  }
  const requested = { manifests, ...(namespace ? { namespace } : {}), ...(mode ? { mode } : {}) };
  return ok(await planner.planManifests(requested, readRights(identities.authorizer, request.user)));
}
