/**
 * GET, PUT and PATCH of `…/scale` (pkg/registry/apps/deployment/storage ScaleREST, apiextensions-apiserver
 * pkg/registry/customresource ScaleREST).
 */
import { badRequest, conflict, invalid } from '../../../shared/kube/objects/api-status.js';
import type { ScaleSubresource } from '../../../shared/kube/objects/custom-resource-definition.js';
import { applyMergePatch, setOwn } from '../../../shared/kube/objects/merge-patch.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import { type Scalable, scaleMetadata, selectorText } from '../../../shared/kube/workloads/scale.js';
import type { Scale } from '../../../shared/kube/workloads/workload-types.js';
import { valueAt } from '../../kinds/custom-resources/schemas/json-values.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import { NOT_NEGATIVE } from '../../kinds/pods/spec-validation/value-validation.js';
import { schemaOf } from '../../kinds/schema/schema-definitions.js';
import { invalidValue } from '../../kinds/validation/field-error.js';
import { readTyped } from '../../registry/admission/typed-body.js';
import { copyJson, isJsonMap, type JsonMap } from '../../registry/encoding/json-value.js';
import { manifestProblems } from '../../registry/managed-fields/manifest-problems.js';
import { applyJsonPatch } from '../../registry/patch/json-patch.js';
import { applyStrategicMergePatch, PatchFormatError } from '../../registry/patch/strategic-merge-patch.js';
import type { Preconditions, ReviewedForm, WriteOptions } from '../../registry/registry-options.js';
import { unsupportedMediaType } from '../bodies/body-decoder.js';
import { readWrite } from '../bodies/write-body.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { isSwitchedOn } from '../http/request-info.js';
import { methodNotAllowed } from '../http/status-response.js';
import { patchTypeOf, requestedRef } from './object-handlers.js';

const SCALE = { kind: 'Scale', apiVersion: 'autoscaling/v1' };
const SCHEMA = schemaOf({ schema: 'io.k8s.api.autoscaling.v1.Scale' });
const NAMES = { group: 'autoscaling', resource: 'scales', kind: 'Scale' };

/** Strategic merge patches need Go types, which custom resources do not have. */
const CUSTOM_PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
];

/** How the fields of an object become its Scale. */
interface ScaleMapping {
  specReplicasPath: string;
  statusReplicasPath: string;
  selectorOf(object: KubeObject): string;
}

const BUILT_IN: ScaleMapping = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  selectorOf: (object) => selectorText((object as Scalable).spec.selector),
};

function mappingOf(custom: ScaleSubresource | undefined): ScaleMapping {
  if (!custom) return BUILT_IN;
  const { labelSelectorPath } = custom;
  const selectorOf = (object: KubeObject): string => {
    const text = labelSelectorPath ? valueAt(object, labelSelectorPath) : undefined;
    return typeof text === 'string' ? text : '';
  };
  return { ...custom, selectorOf };
}

function numberAt(object: KubeObject, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}

function scaleOf(object: KubeObject, mapping: ScaleMapping): Scale {
  const replicas = numberAt(object, mapping.specReplicasPath);
  const selector = mapping.selectorOf(object);
  return {
    ...SCALE,
    metadata: scaleMetadata(object.metadata),
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberAt(object, mapping.statusReplicasPath),
      ...(selector === '' ? {} : { selector }),
    },
  };
}

/** Sets a number, in place. Creates the maps on the way. */
function setAt(object: JsonMap, path: string, value: number): void {
  const steps = path.split('.').filter((step) => step !== '');
  const last = steps.pop() ?? '';
  let parent = object;
  for (const step of steps) {
    const child = Object.hasOwn(parent, step) ? parent[step] : undefined;
    const next = isJsonMap(child) ? child : {};
    setOwn(parent, step, next);
    parent = next;
  }
  setOwn(parent, last, value);
}

/** Returns the replicas of a Scale; absent is undefined. Throws a 400 for no integer, and a 422 for a negative one. */
function replicasOf(scale: JsonMap, name: string): number | undefined {
  const replicas = valueAt(scale, '.spec.replicas') ?? undefined;
  if (replicas === undefined) return undefined;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    throw badRequest('Scale.spec.replicas must be an integer');
  }
  if (replicas >= 0) return replicas;
  throw invalid(NAMES, name, [invalidValue('spec.replicas', replicas, NOT_NEGATIVE)]);
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

/** A changed Scale, from the present one. */
type Change = (present: JsonMap) => JsonMap;

/** Returns what a PUT, or a patch that is no apply, does to the Scale. Throws 400, 413, 415. */
function requestedChange(
  deps: ApiDeps,
  request: ApiRequest,
): { options: WriteOptions; preconditions: Preconditions; change: Change } {
  if (request.info.verb === 'update') {
    const { body, options } = readWrite(deps, request);
    const scale = readTyped(body, SCALE);
    const uid = valueAt(scale, '.metadata.uid');
    const preconditions = typeof uid === 'string' && uid ? { uid } : {};
    return { options, preconditions, change: () => scale };
  }
  const type = patchTypeOf(request);
  const { body, options } = readWrite(deps, request, type);
  const change = (present: JsonMap): JsonMap => {
    if (type === 'json') return applyJsonPatch(present, body);
    const patch = readTyped(body, SCALE);
    return type === 'merge' ? applyMergePatch(present, patch) : applyStrategic(present, patch);
  };
  return { options, preconditions: {}, change };
}

/** Options of the write to the object. The checks of fields are about the Scale, not about the object. */
function writeOptionsOf(
  { fieldValidation: _, repeatedKeys: __, ...options }: WriteOptions,
  mapping: ScaleMapping,
  name: string,
) {
  const reviewedAs: ReviewedForm = {
    show: (object) => scaleOf(object, mapping),
    accept: (object, scale) => {
      const replicas = replicasOf({ ...scale }, name) ?? 0;
      setAt(object as unknown as JsonMap, mapping.specReplicasPath, replicas);
    },
  };
  return { ...options, subresource: 'scale' as const, reviewedAs };
}

/** Returns the manifest of the object that a manifest of its Scale stands for. Throws 400 and 422. */
function manifestOf(kind: Kind, ref: ObjectRef, body: unknown, { specReplicasPath }: ScaleMapping): JsonMap {
  const scale = readTyped(copyJson(body), SCALE);
  const { managedFields, uid, resourceVersion } = isJsonMap(scale.metadata)
    ? scale.metadata
    : ({} as JsonMap);
  if (managedFields !== undefined && managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const [problem] = manifestProblems(scale, SCHEMA);
  if (problem !== undefined) {
    const place = `${ref.namespace ? `${ref.namespace}/` : ''}${ref.name}; ${SCALE.apiVersion}, Kind=${SCALE.kind}`;
    throw badRequest(`failed to create typed patch object (${place}): ${problem}`);
  }
  const manifest: JsonMap = {
    ...{ apiVersion: apiVersionOf(kind), kind: kind.kind },
    metadata: { name: ref.name, ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
  };
  const replicas = replicasOf(scale, ref.name);
  if (replicas !== undefined) setAt(manifest, specReplicasPath, replicas);
  return manifest;
}

/**
 * Server-side apply of a Scale is an apply of the object's replicas: the managers of that field are the managers of the
 * Scale's, and the applier's entry names the subresource (`managedfields.ScaleHandler`).
 */
async function applyScale(
  deps: ApiDeps,
  kind: Kind,
  mapping: ScaleMapping,
  request: ApiRequest,
): Promise<ApiResponse> {
  const ref = requestedRef(request);
  const { body, options } = readWrite(deps, request, 'apply');
  const { repeatedKeys, fieldValidation } = options;
  const write = {
    ...writeOptionsOf(options, mapping, ref.name),
    ...(repeatedKeys && { repeatedKeys }),
    ...(fieldValidation && { fieldValidation }),
  };
  const patch = {
    type: 'apply' as const,
    body: manifestOf(kind, ref, body, mapping),
    force: isSwitchedOn(request.info.query, 'force'),
  };
  const { record } = await deps.registry.patch(kind, ref, patch, write);
  return ok(scaleOf(record.object(), mapping));
}

/** Handles `scale` of a built-in kind, or with `custom` of a custom resource. Throws 400, 404, 405, 409, 415, 422. */
export async function handleScale(
  deps: ApiDeps,
  kind: Kind,
  request: ApiRequest,
  custom?: ScaleSubresource,
): Promise<ApiResponse> {
  const mapping = mappingOf(custom);
  const ref = requestedRef(request);
  const { verb } = request.info;
  if (verb === 'get') return ok(scaleOf((await deps.registry.get(kind, ref)).object(), mapping));
  if (verb !== 'update' && verb !== 'patch') throw methodNotAllowed();
  if (verb === 'patch') {
    const type = patchTypeOf(request);
    if (type === 'apply') return applyScale(deps, kind, mapping, request);
    if (type === 'strategic' && custom) throw unsupportedMediaType(CUSTOM_PATCH_TYPES);
  }
  const { options, preconditions, change } = requestedChange(deps, request);
  const record = await deps.registry.modify(
    kind,
    ref,
    (stored) => {
      const scale = change({ ...copyJson(scaleOf(stored, mapping)) } as unknown as JsonMap);
      const version = valueAt(scale, '.metadata.resourceVersion');
      if (version && version !== stored.metadata.resourceVersion) throw conflict(kind, ref.name);
      const replicas = replicasOf(scale, ref.name) ?? 0;
      if (valueAt(stored, mapping.specReplicasPath) === replicas) return false;
      setAt(stored as unknown as JsonMap, mapping.specReplicasPath, replicas);
      return undefined;
    },
    { ...writeOptionsOf(options, mapping, ref.name), preconditions },
  );
  return ok(scaleOf(record.object(), mapping));
}
