/** GET, PUT and PATCH of `…/scale` (pkg/registry/apps/deployment/storage ScaleREST). */
import { badRequest, invalid } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { type Scalable, scaleOf } from '../../../shared/kube/workloads/scale.js';
import type { Kind } from '../../kinds/kind.js';
import { NOT_NEGATIVE } from '../../kinds/pods/spec-validation/value-validation.js';
import { invalidValue } from '../../kinds/validation/field-error.js';
import { readTyped } from '../../registry/admission/typed-body.js';
import { isJsonMap, type JsonMap } from '../../registry/encoding/json-value.js';
import { applyJsonPatch, applyMergePatch } from '../../registry/patch/json-patch.js';
import { applyStrategicMergePatch, PatchFormatError } from '../../registry/patch/strategic-merge-patch.js';
import { unsupportedMediaType } from '../bodies/body-decoder.js';
import { readWrite } from '../bodies/write-body.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { methodNotAllowed } from '../http/status-response.js';
import { patchTypeOf, requestedRef } from './object-handlers.js';

const SCALE = { kind: 'Scale', apiVersion: 'autoscaling/v1' };
const NAMES = { group: 'autoscaling', resource: 'scales', kind: 'Scale' };

/** Server-side apply of a Scale is not supported. */
const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
];

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

/** A Scale has no lists, so that it needs no schema. Throws 400. */
function applyStrategic(present: JsonMap, patch: JsonMap): JsonMap {
  try {
    return applyStrategicMergePatch(present, patch, undefined);
  } catch (error) {
    if (error instanceof PatchFormatError) throw badRequest(error.message);
    throw error;
  }
}

/** Returns the function that changes a Scale as the request says, and the preconditions of a PUT. */
function changeOf(deps: ApiDeps, request: ApiRequest) {
  if (request.info.verb === 'update') {
    const { body, options } = readWrite(deps, request);
    const scale = readTyped(body, SCALE);
    return { options, preconditions: preconditionsIn(scale), change: () => scale };
  }
  const type = patchTypeOf(request);
  if (type === 'apply') throw unsupportedMediaType(PATCH_TYPES);
  const { body, options } = readWrite(deps, request, type);
  const change = (present: JsonMap): JsonMap => {
    if (type === 'json') return applyJsonPatch(present, body);
    const patch = readTyped(body, SCALE);
    return type === 'merge' ? applyMergePatch(present, patch) : applyStrategic(present, patch);
  };
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
  // Field validation and repeated keys are about the Scale, not about the object that is stored.
  const { fieldValidation: _, repeatedKeys: __, ...write } = options;
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
      ...write,
      subresource: 'scale',
      reviewedAs: {
        show: (object) => scaleOf(object as Scalable) as KubeObject,
        accept: (object, scale) => {
          (object as Scalable).spec.replicas = replicasOf({ ...scale }, ref.name);
        },
      },
      preconditions,
    },
  );
  return ok(scaleOf(record.object()));
}
