/** GET, PUT and PATCH of `…/scale` (pkg/registry/apps/deployment/storage ScaleREST). */
import { invalid } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { type Scalable, scaleOf } from '../../../shared/kube/workloads/scale.js';
import type { Kind } from '../../kinds/kind.js';
import { NOT_NEGATIVE } from '../../kinds/pods/spec-validation/value-validation.js';
import { invalidValue } from '../../kinds/validation/field-error.js';
import { readTyped } from '../../registry/admission/typed-body.js';
import { isJsonMap, type JsonMap } from '../../registry/encoding/json-value.js';
import { applyJsonPatch, applyMergePatch } from '../../registry/patch/json-patch.js';
import { readWrite } from '../bodies/write-body.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { methodNotAllowed } from '../http/status-response.js';
import { patchTypeOf, requestedRef } from './object-handlers.js';

const SCALE = { kind: 'Scale', apiVersion: 'autoscaling/v1' };
const NAMES = { group: 'autoscaling', resource: 'scales', kind: 'Scale' };

/** Returns the body's replicas; absent is 0. Throws 422 for anything but a number that is not negative. */
function replicasOf(scale: JsonMap, name: string): number {
  const replicas = isJsonMap(scale.spec) ? (scale.spec.replicas ?? 0) : 0;
  if (typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0) return replicas;
  throw invalid(NAMES, name, [invalidValue('spec.replicas', replicas, NOT_NEGATIVE)]);
}

/** Returns uid and resourceVersion of the body, which must be those of the stored object. */
function preconditionsIn({ metadata }: JsonMap): { uid?: string; resourceVersion?: string } {
  const { uid, resourceVersion } = isJsonMap(metadata) ? metadata : ({} as JsonMap);
  return {
    ...(typeof uid === 'string' && uid ? { uid } : {}),
    ...(typeof resourceVersion === 'string' && resourceVersion ? { resourceVersion } : {}),
  };
}

/** Returns the function that changes a Scale as the request says, and the preconditions of a PUT. */
function changeOf(deps: ApiDeps, request: ApiRequest) {
  if (request.info.verb === 'update') {
    const { body, options } = readWrite(deps, request);
    const scale = readTyped(body, SCALE);
    return { options, preconditions: preconditionsIn(scale), change: () => scale };
  }
  const type = patchTypeOf(request);
  const { body, options } = readWrite(deps, request, type);
  const change = (present: JsonMap): JsonMap =>
    type === 'json' ? applyJsonPatch(present, body) : applyMergePatch(present, readTyped(body, SCALE));
  return { options, preconditions: {}, change };
}

/** Throws 400, 404, 405, 409, 422. */
export async function handleScale(deps: ApiDeps, kind: Kind, request: ApiRequest): Promise<ApiResponse> {
  const scalable = kind as unknown as Kind<Scalable>;
  const ref = requestedRef(request);
  const { verb } = request.info;
  if (verb === 'get') return ok(scaleOf((await deps.registry.get(scalable, ref)).object()));
  if (verb !== 'update' && verb !== 'patch') throw methodNotAllowed();
  const { options, preconditions, change } = changeOf(deps, request);
  const { dryRun, fieldManager, user, groups } = options;
  const record = await deps.registry.modify(
    scalable,
    ref,
    (stored) => {
      const scale = change({ ...(scaleOf(stored) as KubeObject) });
      const replicas = replicasOf(scale, ref.name);
      if (stored.spec.replicas === replicas) return false;
      stored.spec.replicas = replicas;
      return undefined;
    },
    {
      ...(dryRun === undefined ? {} : { dryRun }),
      ...(fieldManager === undefined ? {} : { fieldManager }),
      ...(user === undefined ? {} : { user }),
      ...(groups === undefined ? {} : { groups }),
      preconditions,
    },
  );
  return ok(scaleOf(record.object()));
}
