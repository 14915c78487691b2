/** Computes the result of `kubectl apply` or `kubectl replace` without storing it. */

import { orUndefined } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { schemaOf } from '../../kinds/schema/schema-definitions.js';
import { copyJson, isJsonMap, type JsonMap } from '../encoding/json-value.js';
import { difference } from '../managed-fields/field-set.js';
import { fieldSetOf } from '../managed-fields/object-field-set.js';
import { removeFields } from '../managed-fields/remove-fields.js';
import { applyStrategicMergePatch } from '../patch/strategic-merge-patch.js';
import type { Registry } from '../registry.js';
import type { WriteOptions } from '../registry-options.js';

/** Client-side apply stores the last manifest in this annotation. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** An object before and after an apply. `before` is absent if the apply would create it. */
export interface DryRunResult<T extends KubeObject> {
  before?: T;
  after: T;
}

/** The options of a dry run that the caller chooses. */
type DryRun = Pick<WriteOptions, 'warn' | 'assumed'>;

type Verbs = Pick<Registry, 'get' | 'create' | 'update' | 'patch'>;

/**
 * Applies client-side if the object was last applied that way, otherwise server-side. Throws what the apply would
 * throw: 400, 403, 404 (namespace), 409, 422.
 */
export async function dryRunApply<T extends KubeObject>(
  registry: Verbs,
  kind: Kind<T>,
  ref: ObjectRef,
  manifest: JsonMap,
  wanted: DryRun,
): Promise<DryRunResult<T>> {
  const options = dryRun(wanted);
  const before = await presentObject(registry, kind, ref);
  if (!before) return { after: (await registry.create(kind, ref.namespace, manifest, options)).object() };
  const last = lastApplied(before);
  if (!last) {
    const patch = { type: 'apply' as const, body: manifest, force: true };
    return { before, after: (await registry.patch(kind, ref, patch, options)).record.object() };
  }
  const body = threeWayMerge(kind, copyJson(before) as T & JsonMap, last, manifest);
  return { before, after: (await registry.update(kind, ref, body, options)).object() };
}

/** Like `dryRunApply`, for `kubectl replace` or `kubectl create`. An outdated resourceVersion is a 409. */
export async function dryRunReplace<T extends KubeObject>(
  registry: Verbs,
  kind: Kind<T>,
  ref: ObjectRef,
  manifest: JsonMap,
  wanted: DryRun,
): Promise<DryRunResult<T>> {
  const before = await presentObject(registry, kind, ref);
  if (!before)
    return { after: (await registry.create(kind, ref.namespace, manifest, dryRun(wanted))).object() };
  return { before, after: (await registry.update(kind, ref, manifest, dryRun(wanted))).object() };
}

function dryRun({ warn, assumed }: DryRun): WriteOptions {
  return {
    ...{ dryRun: true, fieldValidation: 'Strict', fieldManager: 'kubectl' },
    ...(warn ? { warn } : {}),
    ...(assumed ? { assumed } : {}),
  };
}

async function presentObject<T extends KubeObject>(
  registry: Verbs,
  kind: Kind<T>,
  ref: ObjectRef,
): Promise<T | undefined> {
  return orUndefined(async () => (await registry.get(kind, ref)).object());
}

function lastApplied({ metadata }: KubeObject): JsonMap | undefined {
  const text = metadata.annotations?.[LAST_APPLIED];
  if (!text) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Removes fields that only the last manifest named (`CreateThreeWayMergePatch`). */
function threeWayMerge(kind: Kind, live: JsonMap, last: JsonMap, manifest: JsonMap): JsonMap {
  const schema = schemaOf(kind);
  const gone = difference(fieldSetOf(last, schema), fieldSetOf(manifest, schema));
  const kept = removeFields(live, gone, schema);
  return applyStrategicMergePatch(isJsonMap(kept) ? kept : {}, manifest, schema);
}
