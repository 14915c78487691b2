/** The optimistic loop of all changes: read, decide, write unless another writer was faster. */

import { ApiError, conflict, notFound, type ResourceNames } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectMeta, ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { MAX_VALUE_BYTES, RevisionMismatch } from '../../store/store.js';
import { allocateFor, isAllocated } from '../allocation/allocated-write.js';
import { atRevision, cacheWritten } from '../encoding/decoded-objects.js';
import { sameJson } from '../encoding/json-value.js';
import { encodeNewStatus, encodeObject } from '../encoding/object-encoding.js';
import { recordOf, StoredRecord, writtenRecord } from '../encoding/object-record.js';
import { refuseComputed } from '../reads/computed-objects.js';
import type { Allocation, ObjectRecord, RegistryDeps } from '../registry.js';
import { FactsMissing, writeError } from '../registry-errors.js';
import type { Preconditions } from '../registry-options.js';
import { keyOf } from '../storage-keys.js';
import { isReleased } from './deletion-rules.js';

/** `mark` stores `object`; with `statusOnly` it differs from the stored one only in its status. */
export type WriteDecision<T extends KubeObject> =
  | { step: 'keep' }
  | { step: 'mark'; object: T; statusOnly?: boolean }
  | { step: 'remove' };

export interface Outcome<T extends KubeObject> {
  record: ObjectRecord<T>;
  removed: boolean;
}

/** One writer succeeds in each round, so losing this often is very unlikely. */
const MAX_ATTEMPTS = 100;

/**
 * Applies `decide` to the stored object until the result is stored. An unchanged object is not written. A write that
 * removes the last finalizer of a terminating object removes the object. `decide` runs again after it has thrown
 * `FactsMissing`. Throws 404, 409 and errors of `decide`.
 */
export async function writeOptimistically<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  decide: (current: ObjectRecord<T>) => WriteDecision<T> | Promise<WriteDecision<T>>,
  dryRun = false,
): Promise<Outcome<T>> {
  refuseComputed(kind, ref.namespace);
  const key = keyOf(kind, ref);
  if (isAllocated(kind)) await deps.services?.ready();
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const stored = await deps.store.get(key);
    if (!stored) throw notFound(kind, ref.name);
    const current = new StoredRecord<T>(stored.value, stored.revision);
    try {
      const decision = decide(current);
      const step = decision instanceof Promise ? await decision : decision;
      return await perform(deps, { kind, key }, current, step, dryRun);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (error instanceof FactsMissing) {
        await error.load();
        continue;
      }
      if (!(error instanceof RevisionMismatch)) throw writeError(error, kind, ref.name);
    }
  }
  const { namespace, name } = ref;
  deps.log.warn(
    { resource: kind.resource, namespace, name },
    'write failed: too many concurrent writes to the object',
  );
  throw conflict(kind, ref.name);
}

/** The object to write. */
interface Target<T extends KubeObject> {
  kind: Kind<T>;
  key: string;
}

async function perform<T extends KubeObject>(
  deps: RegistryDeps,
  { kind, key }: Target<T>,
  current: StoredRecord<T>,
  step: WriteDecision<T>,
  dryRun: boolean,
): Promise<Outcome<T>> {
  const { revision } = current;
  if (step.step === 'keep') return { record: current, removed: false };
  if (step.step === 'mark' && !isReleased(step.object, current.object())) {
    let { object } = step;
    const allocation = step.statusOnly ? undefined : allocateFor(deps, kind, object, current.object());
    let next: number | undefined;
    let charged: Allocation | undefined;
    try {
      object.metadata.resourceVersion = String(revision);
      if (sameJson(object, current.object())) return { record: current, removed: false };
      // Of all updates, only those of a Service change a usage that the client decides.
      if (isAllocated(kind)) charged = deps.quotas?.charge(kind as Kind, object, current.object());
      if (dryRun) return { record: recordOf(object, revision), removed: false };
      let encoded = step.statusOnly ? encodeNewStatus(current.stored, object) : encodeObject(object);
      if (kind.shrink && encoded.length > MAX_VALUE_BYTES) {
        object = kind.shrink(object, encoded.length - MAX_VALUE_BYTES);
        encoded = encodeObject(object);
      }
      cacheWritten(encoded, object);
      next = await deps.store.update(key, encoded, { revision });
      return { record: writtenRecord(object, encoded, next), removed: false };
    } finally {
      allocation?.settle(next);
      charged?.settle(next);
    }
  }
  const last = atRevision(step.step === 'mark' ? step.object : current.object(), revision);
  const gone = dryRun ? revision : await deps.store.delete(key, { revision });
  return { record: recordOf(last, gone), removed: true };
}

/** Throws a 409 if the stored object has another uid or resourceVersion (`rest.BeforeDelete`). */
export function checkPreconditions(
  names: ResourceNames,
  present: ObjectMeta,
  preconditions: Preconditions | undefined,
): void {
  const { uid, resourceVersion } = preconditions ?? {};
  if (uid !== undefined && uid !== present.uid) {
    const detail = `the UID in the precondition (${uid}) does not match the UID in record (${present.uid}). The object might have been deleted and then recreated`;
    throw conflict(names, present.name, detail);
  }
  if (resourceVersion !== undefined && resourceVersion !== present.resourceVersion) {
    const detail = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${present.resourceVersion}). The object might have been modified`;
    throw conflict(names, present.name, detail);
  }
}
