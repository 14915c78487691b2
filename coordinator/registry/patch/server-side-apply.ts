/** PATCH with `application/apply-patch+yaml`: server-side apply. */

import {
  ApiError,
  badRequest,
  conflict,
  isNotFound,
  notFound,
} from '../../../shared/kube/objects/api-status.js';
import {
  type KubeObject,
  type ObjectMeta,
  type ObjectRef,
  toTimestamp,
} from '../../../shared/kube/objects/meta.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import { checkFields } from '../../kinds/schema/check-fields.js';
import { schemaOf } from '../../kinds/schema/schema-definitions.js';
import { withAdmissionReviews } from '../admission/admission-reviews.js';
import { yamlError } from '../admission/strict-decoding.js';
import { placeAtName, readBody } from '../admission/typed-body.js';
import { admitThroughWebhooks } from '../admission/webhook-update.js';
import { admitUpdate, type Replacement } from '../admission/write-admission.js';
import { copyJson, type JsonMap, sameJson } from '../encoding/json-value.js';
import { applyConflict } from '../managed-fields/apply-conflict.js';
import { type ApplyConflict, appliedFields, applyFields } from '../managed-fields/apply-fields.js';
import {
  encodeManagers,
  type FieldManager,
  type FieldManagers,
  managerKey,
  NO_MANAGERS,
  setManagedFields,
  storedManagers,
  withManager,
} from '../managed-fields/field-managers.js';
import { sameSet } from '../managed-fields/field-set.js';
import { refreshLastApplied, withoutOwnLegacy } from '../managed-fields/last-applied.js';
import { manifestProblems } from '../managed-fields/manifest-problems.js';
import { managersAfterUpdate } from '../managed-fields/track-write.js';
import { ZERO_OBJECT } from '../managed-fields/untracked-fields.js';
import type { ObjectRecord, RegistryDeps } from '../registry.js';
import type { Patch, WriteOptions } from '../registry-options.js';
import { createTracked } from '../writes/create-object.js';
import { type WriteDecision, writeOptimistically } from '../writes/optimistic-write.js';

/** The owner of fields that existed before the first apply to an untracked object. */
const BEFORE_FIRST_APPLY = 'before-first-apply';

/** Retries of the race "get: not found, create: already exists". */
const MAX_ATTEMPTS = 8;

/** An apply request. */
interface Application {
  kind: Kind;
  manifest: JsonMap;
  manager: string;
  force: boolean;
  subresource: WriteOptions['subresource'];
}

/**
 * Applies the manifest and creates the object if it does not exist. Throws 400, 404 (status of a missing object), 409
 * (conflicts unless forced, another resourceVersion or uid) and 422.
 */
export async function apply<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  { body, force = false }: Patch,
  options: WriteOptions,
): Promise<{ record: ObjectRecord<T>; created: boolean }> {
  const manifest = readManifest(kind, ref, copyJson(body));
  checkRepeatedKeys(options);
  const { fieldManager: manager = 'unknown', subresource } = options;
  const application = { kind, manifest, manager, force, subresource };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const reviewed = await withAdmissionReviews(deps, kind, ref.namespace, options);
      return { record: await applyToPresent(deps, kind, ref, application, reviewed), created: false };
    } catch (error) {
      if (!isNotFound(error) || subresource !== undefined) throw error;
    }
    try {
      return { record: await createByApply(deps, kind, ref, application, options), created: true };
    } catch (error) {
      const isTaken = error instanceof ApiError && error.reason === 'AlreadyExists';
      if (!isTaken || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Returns the manifest. An apply always refuses unknown fields, with any field validation. Throws a 400. */
function readManifest(kind: Kind, ref: ObjectRef, body: unknown): JsonMap {
  const manifest = readBody(kind, body);
  if (manifest.metadata.managedFields !== undefined && manifest.metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  delete manifest.metadata.managedFields;
  // A copy, because decoding removes the unknown fields that must be refused.
  const { typeErrors } = kind.decode
    ? kind.decode(copyJson(manifest), new Set())
    : checkFields(kind.schema, manifest);
  const problems = [...typeErrors, ...manifestProblems(manifest, schemaOf(kind))];
  if (problems.length > 0) {
    const what =
      problems.length === 1 ? problems[0] : `errors:\n${problems.map((text) => `  ${text}`).join('\n')}`;
    throw badRequest(`failed to create typed patch object (${objectText(kind, ref)}): ${what}`);
  }
  return manifest;
}

/** Throws or warns like upstream's strict YAML parser (`applyPatcher`). */
function checkRepeatedKeys({ repeatedKeys, fieldValidation, warn }: WriteOptions): void {
  if (repeatedKeys?.by !== 'yaml') return;
  if (fieldValidation === 'Strict') {
    const error = yamlError(repeatedKeys.lines);
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${error}`);
  }
  if (fieldValidation === 'Warn') for (const line of repeatedKeys.lines) warn?.(line);
}

function objectText(kind: Kind, { namespace, name }: ObjectRef): string {
  return `${namespace ? `${namespace}/` : ''}${name}; ${apiVersionOf(kind)}, Kind=${kind.kind}`;
}

async function applyToPresent<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  application: Application,
  options: WriteOptions,
): Promise<ObjectRecord<T>> {
  const decide = (current: ObjectRecord<T>) => {
    const now = deps.clock.now();
    const place = { ref, current: current.object(), now };
    const object = applied(deps, kind, place, application, options);
    const mark = (next: T): WriteDecision<T> => ({ step: 'mark', object: next });
    return object instanceof Promise ? object.then(mark) : mark(object);
  };
  return (await writeOptimistically(deps, kind, ref, decide, options.dryRun)).record;
}

function applied<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  { ref, current, now }: Omit<Replacement<T>, 'body'>,
  application: Application,
  options: WriteOptions,
): T | Promise<T> {
  const { manifest, manager, subresource } = application;
  const name = { manager, operation: 'Apply' as const, ...(subresource ? { subresource } : {}) };
  const live = liveMap(current);
  const before = managersOf(application, current, now);
  const { object, managers, conflicts } = applyFields(application.kind, live, manifest, before, name);
  if (!application.force) refuseConflicts(application, live, conflicts);
  const body = copyJson(object);
  // The annotation is a manifest of the whole object.
  if (subresource !== 'scale') refreshLastApplied(body, manifest, manager);
  // The manifest is already validated. This call only drops its nulls.
  const checked: WriteOptions = { ...options, fieldValidation: 'Ignore' };
  const admit = (replacement: Replacement<T>): T => {
    const next = admitUpdate(kind, replacement, checked);
    setManagedFields(next, undefined);
    const isSame = sameJson(
      { ...next, metadata: { ...next.metadata, resourceVersion: current.metadata.resourceVersion } },
      live,
    );
    const after = timed(managers, managerKey(name), before, isSame, now);
    setManagedFields(next, encodeManagers(after, apiVersionOf(kind)));
    return next;
  };
  return admitThroughWebhooks(deps, kind, { ref, body, current, now }, { options: checked, admit });
}

/**
 * Throws a 409 for fields of other managers. A Scale has no annotations, so that kubectl's client-side apply is another
 * manager of it.
 */
function refuseConflicts(
  { kind, manager, subresource }: Application,
  live: JsonMap,
  conflicts: readonly ApplyConflict[],
): void {
  const isScale = subresource === 'scale';
  const refused = isScale ? conflicts : withoutOwnLegacy(kind, live, conflicts, manager);
  if (refused.length > 0) throw applyConflict(refused, isScale ? 'autoscaling/v1' : apiVersionOf(kind));
}

function liveMap(current: KubeObject): JsonMap {
  const { managedFields: _tracked, ...metadata } = current.metadata;
  return Object.fromEntries(Object.entries({ ...current, metadata }));
}

function managersOf({ kind, subresource }: Application, current: KubeObject, now: number): FieldManagers {
  const managers = storedManagers(current.metadata.managedFields, apiVersionOf(kind));
  if (managers.size > 0) return managers;
  const writer = { manager: BEFORE_FIRST_APPLY, operation: 'Update' as const, time: toTimestamp(now) };
  return managersAfterUpdate(kind, ZERO_OBJECT, current, managers, {
    ...writer,
    ...(subresource ? { subresource } : {}),
  });
}

/** An entry has the time of its last change: an apply that changes neither object nor fields keeps the time. */
function timed(
  managers: FieldManagers,
  key: string,
  before: FieldManagers,
  isSame: boolean,
  now: number,
): FieldManagers {
  const own = managers.get(key);
  const last = before.get(key);
  if (!own || (isSame && last && sameSet(own.fields, last.fields))) return managers;
  const changed: FieldManager = { ...own, time: toTimestamp(now) };
  return withManager(managers, changed);
}

async function createByApply<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  { manifest, manager }: Application,
  options: WriteOptions,
): Promise<ObjectRecord<T>> {
  const body = copyJson(manifest) as T & JsonMap;
  refuseIdentity(kind, ref, body.metadata);
  placeAtName(body, ref);
  const fields = appliedFields(kind, manifest, undefined);
  const time = toTimestamp(deps.clock.now());
  const managers = withManager(NO_MANAGERS, { manager, operation: 'Apply', fields, time });
  const entries = encodeManagers(managers, apiVersionOf(kind));
  const track = (object: T) => setManagedFields(object, entries);
  const making = { namespace: ref.namespace, body, track };
  return createTracked(deps, kind, making, { ...options, fieldValidation: 'Ignore' });
}

/** Refuses to create an object from a manifest with the uid of a deleted object (`rest.DefaultUpdatedObjectInfo`). */
function refuseIdentity(kind: Kind, ref: ObjectRef, { uid, resourceVersion }: ObjectMeta): void {
  if (uid) {
    const detail = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(kind, ref.name, detail);
  }
  if (resourceVersion) throw notFound(kind, ref.name);
}
