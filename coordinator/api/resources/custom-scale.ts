/** The subresource `scale` of custom resources (apiextensions-apiserver pkg/registry/customresource/etcd.go). */
import { badRequest, conflict, invalid } from '../../../shared/kube/objects/api-status.js';
import type { ScaleSubresource } from '../../../shared/kube/objects/custom-resource-definition.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { scaleMetadata } from '../../../shared/kube/workloads/scale.js';
import { valueAt } from '../../kinds/custom-resources/schemas/json-values.js';
import type { Kind } from '../../kinds/kind.js';
import { invalidValue } from '../../kinds/validation/field-error.js';
import { copyJson, isJsonMap, type JsonMap, setOwn } from '../../registry/encoding/json-value.js';
import { applyJsonPatch, applyMergePatch } from '../../registry/patch/json-patch.js';
import { unsupportedMediaType } from '../bodies/body-decoder.js';
import { readWrite } from '../bodies/write-body.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { parseMediaType, requireWholeObject } from '../http/media-type.js';
import { methodNotAllowed } from '../http/status-response.js';
import { requestedRef } from './object-handlers.js';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';

/** autoscaling/v1 Scale. */
interface Scale extends KubeObject {
  spec: { replicas: number };
  status: { replicas: number; selector?: string };
}

function numberAt(object: KubeObject, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}

function scaleOf(object: KubeObject, paths: ScaleSubresource): Scale {
  const selector = paths.labelSelectorPath ? valueAt(object, paths.labelSelectorPath) : undefined;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: scaleMetadata(object.metadata),
    spec: { replicas: numberAt(object, paths.specReplicasPath) },
    status: {
      replicas: numberAt(object, paths.statusReplicasPath),
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  };
}

/** Returns the replicas of a changed Scale. Throws 400, 409 and 422. */
function replicasOf(kind: Kind, next: unknown, current: KubeObject): number {
  if (!isJsonMap(next) || (next.kind ?? 'Scale') !== 'Scale') throw badRequest('the body is not a Scale');
  const version = valueAt(next, '.metadata.resourceVersion');
  if (version && version !== current.metadata.resourceVersion) throw conflict(kind, current.metadata.name);
  const replicas = valueAt(next, '.spec.replicas') ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    throw badRequest('Scale.spec.replicas must be an integer');
  }
  if (replicas < 0) {
    const names = { group: 'autoscaling', resource: '', kind: 'Scale' };
    const detail = 'must be greater than or equal to 0';
    throw invalid(names, current.metadata.name, [invalidValue('spec.replicas', replicas, detail)]);
  }
  return replicas;
}

/** Sets a number, in place. Creates the maps on the way. */
function setAt(object: KubeObject, path: string, value: number): void {
  const steps = path.split('.').filter((step) => step !== '');
  const last = steps.pop() ?? '';
  let parent: JsonMap = object as unknown as JsonMap;
  for (const step of steps) {
    const child = Object.hasOwn(parent, step) ? parent[step] : undefined;
    const next = isJsonMap(child) ? child : {};
    setOwn(parent, step, next);
    parent = next;
  }
  setOwn(parent, last, value);
}

type Change = (current: Scale) => unknown;

/** Returns the change that a PUT or PATCH requests. Throws 400 and 415. */
function requestedChange(request: ApiRequest, body: unknown): Change {
  if (request.info.verb === 'update') return () => body;
  const { type } = parseMediaType(request.headers.contentType ?? '');
  if (type === JSON_PATCH) return (current) => applyJsonPatch(copyJson(current) as Scale & JsonMap, body);
  if (type !== MERGE_PATCH) throw unsupportedMediaType([JSON_PATCH, MERGE_PATCH]);
  if (!isJsonMap(body)) throw badRequest('error decoding patch: the body is not a JSON object');
  return (current) => applyMergePatch(copyJson(current), body);
}

/** Handles GET, PUT and PATCH. The rest of the object stays as it is. */
export async function handleCustomScale(
  deps: ApiDeps,
  kind: Kind,
  paths: ScaleSubresource,
  request: ApiRequest,
): Promise<ApiResponse> {
  const { verb } = request.info;
  requireWholeObject(request.headers.accept);
  const ref = requestedRef(request);
  if (verb === 'get') return ok(scaleOf((await deps.registry.get(kind, ref)).object(), paths));
  if (verb !== 'update' && verb !== 'patch') throw methodNotAllowed();
  const { body, options } = readWrite(deps, request, verb === 'patch' ? 'merge' : undefined);
  // Field validation and repeated keys are about the Scale, not about the object that is stored.
  const { fieldValidation: _, repeatedKeys: __, ...write } = options;
  const change = requestedChange(request, body);
  const accept = (object: KubeObject, scale: unknown): void =>
    setAt(object, paths.specReplicasPath, replicasOf(kind, scale, object));
  const record = await deps.registry.modify(
    kind,
    ref,
    (object) => {
      accept(object, change(scaleOf(object, paths)));
      return undefined;
    },
    { ...write, subresource: 'scale', reviewedAs: { show: (object) => scaleOf(object, paths), accept } },
  );
  return ok(scaleOf(record.object(), paths));
}
