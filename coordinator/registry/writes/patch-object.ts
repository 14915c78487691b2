/** The verb patch: JSON, merge, strategic merge and apply bodies. */

import { ApiError, badRequest, invalid } from '../../../shared/kube/objects/api-status.js';
import { applyMergePatch } from '../../../shared/kube/objects/merge-patch.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { schemaOf } from '../../kinds/schema/schema-definitions.js';
import { invalidValue } from '../../kinds/validation/field-error.js';
import { withAdmissionReviews } from '../admission/admission-reviews.js';
import { DecodingError } from '../admission/strict-decoding.js';
import { copyJson, isJsonMap, type JsonMap } from '../encoding/json-value.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import { apply } from '../patch/server-side-apply.js';
import { applyStrategicMergePatch, PatchFormatError } from '../patch/strategic-merge-patch.js';
import type { ObjectRecord, RegistryDeps } from '../registry.js';
import type { Patch, WriteOptions } from '../registry-options.js';
import { writeOptimistically } from './optimistic-write.js';
import { ownCopy } from './own-copy.js';
import { markUpdate } from './update-object.js';

/** Maximum characters of a patch in an error message. */
const SHOWN_LENGTH = 512;

/**
 * Patches the stored object, and retries after a concurrent write. A resourceVersion or uid in the patch must match
 * (409). Throws 400, 404, 409, 413, 422.
 */
export async function patch<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  change: Patch,
  options: WriteOptions = {},
): Promise<{ record: ObjectRecord<T>; created: boolean }> {
  if (change.type === 'apply') return apply(deps, kind, ref, change, options);
  if (change.type === 'strategic' && kind.definition) throw strategicRefused();
  const reviewed = await withAdmissionReviews(deps, kind, ref.namespace, options);
  const decide = (record: ObjectRecord<T>) => {
    const current = record.object();
    const patched = applyPatch(kind, Object.fromEntries(Object.entries(current)), change);
    const replacement = {
      ref,
      body: copyOfPatched(kind, patched, current),
      current,
      now: deps.clock.now(),
    };
    return markUpdate(deps, kind, replacement, reviewed);
  };
  try {
    const { record } = await writeOptimistically(deps, kind, ref, decide, options.dryRun);
    return { record, created: false };
  } catch (error) {
    throw error instanceof DecodingError ? badOutcome(change, error.problem) : error;
  }
}

/**
 * Returns a copy of the patched object, which shares parts with `current`: admission changes the copy in place, and then
 * compares the two. Nothing changes managedFields in place, so they are shared unless the patch sets them.
 */
function copyOfPatched<T extends KubeObject>(kind: Kind<T>, patched: JsonMap, current: T): unknown {
  const { managedFields } = current.metadata;
  const { metadata, ...parts } = patched;
  if (!managedFields || !isJsonMap(metadata) || metadata.managedFields !== managedFields)
    return ownCopy(kind, patched, current);
  const { managedFields: _shared, ...own } = metadata;
  const copy = ownCopy(kind, parts, current) as JsonMap;
  return { metadata: { ...copyJson(own), managedFields }, ...copy };
}

/** A patch result that is not a valid object of the kind is a 422 at `patch` (`applyPatchToObject`), not a 400. */
function badOutcome({ body }: Patch, problem: string): ApiError {
  const shown = JSON.stringify(body).slice(0, SHOWN_LENGTH);
  return invalid({ group: '', resource: '', kind: '' }, '', [invalidValue('patch', shown, problem)]);
}

/** Strategic merge patches need Go types, which custom resources do not have (apiserver `handlers/patch.go`). */
function strategicRefused(): ApiError {
  return new ApiError(
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
  );
}

/** Returns the patched object. It shares parts with `current`, which stays unchanged. */
function applyPatch(kind: Kind, current: JsonMap, { type, body }: Patch): JsonMap {
  if (type === 'json') return applyJsonPatch(current, body);
  if (!isJsonMap(body)) throw badRequest('error decoding patch: the body is not a JSON object');
  if (type === 'merge') return applyMergePatch(current, body);
  try {
    return applyStrategicMergePatch(current, body, schemaOf(kind));
  } catch (error) {
    if (error instanceof PatchFormatError) throw badRequest(error.message);
    throw error;
  }
}
