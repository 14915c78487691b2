/**
 * `POST /apis/fleet.everynode.dev/v1/plan` with manifests: what would happen if they were applied. Nothing is stored.
 * A dry run of a DaemonSet is answered with the same in short, as warnings.
 */
import { FLEET_GROUP } from '../../shared/kube/fleet-group.js';
import type { KubeObject } from '../../shared/kube/meta.js';
import { CHANGING_ACTIONS, type PlanRequest } from '../../shared/kube/plan.js';
import { ApiError, badRequest } from '../../shared/kube/status.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { daemonSetKind } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import type { ObjectRecord } from '../registry/registry.js';
import { type Answer, ok } from './answer.js';
import type { ApiParts, ApiRequest } from './api-request.js';
import type { ResourceRequest } from './request-info.js';
import { methodNotAllowed } from './status-response.js';
import { requiredBody } from './write-body.js';

/** The path, for clients of it. */
export const PLAN_PATH = `/apis/${FLEET_GROUP}/v1/plan`;

/** More would be no answer but a load. */
const MOST_MANIFESTS = 1_000;

/** Whether a request that names no stored kind is one for this file. */
export function isPlanRequest({ group, version, resource, name }: ResourceRequest): boolean {
  return group === FLEET_GROUP && version === 'v1' && resource === 'plan' && name === undefined;
}

/** Throws ApiError: 400 for a body of another shape, 405 for any verb but create (POST). */
export async function answerPlan({ foresee }: ApiParts, request: ApiRequest): Promise<Answer> {
  if (request.info.verb !== 'create') throw methodNotAllowed();
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
  return ok(
    await foresee.planManifests({
      manifests,
      ...(namespace ? { namespace } : {}),
      ...(mode ? { mode } : {}),
    }),
  );
}

/** Before the write: the DaemonSet as it is stored, if this request is a dry run of one. */
export async function beforeDryRun(
  { registry }: ApiParts,
  kind: Kind,
  { info }: ApiRequest,
): Promise<DaemonSet | undefined> {
  if (kind.resource !== daemonSetKind.resource || info.name === undefined) return undefined;
  const { name, namespace } = info;
  try {
    const record = await registry.get(daemonSetKind, { name, ...(namespace ? { namespace } : {}) });
    return record.object();
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'NotFound') return undefined;
    throw error;
  }
}

/**
 * Warns of what a dry run's DaemonSet would do: a line in short, one for each thing that would keep it from its end. Who prefers
 * a minimal answer (RFC 7240) is not warned: an editor that asks at every pause of typing.
 */
export async function warnOfPlan(
  { foresee }: ApiParts,
  kind: Kind,
  record: ObjectRecord<KubeObject>,
  before: DaemonSet | undefined,
  { warn, headers }: Pick<ApiRequest, 'warn' | 'headers'>,
): Promise<void> {
  if (kind.resource !== daemonSetKind.resource || headers.prefer === 'return=minimal') return;
  const plan = await foresee.planDaemonSet(record.object() as DaemonSet, before);
  if (!CHANGING_ACTIONS.some((action) => plan.counts[action] > 0)) return;
  warn(`plan: ${plan.sentence}`);
  for (const text of plan.suppositions.slice(1)) warn(`plan: supposed that ${text}`);
}
