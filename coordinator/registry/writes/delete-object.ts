/** The verbs delete and deletecollection. */

import {
  ApiError,
  invalid,
  orUndefined,
  qualifiedResource,
} from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Kind } from '../../kinds/kind.js';
import { invalidValue, notSupported } from '../../kinds/validation/field-error.js';
import { listObjects } from '../reads/read-objects.js';
import type { DeleteOptions, DeleteResult, ObjectRecord, RegistryDeps, Selection } from '../registry.js';
import { decideDeletion } from './deletion-rules.js';
import { checkPreconditions, writeOptimistically } from './optimistic-write.js';

/** Concurrent deletions of a collection: enough to share commits, few enough to bound memory. */
const COLLECTION_WIDTH = 64;

/** Namespaces that cannot be deleted (`plugin/pkg/admission/namespace/lifecycle`). */
const IMMORTAL_NAMESPACES = new Set(['default', 'kube-system', 'kube-public']);

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/**
 * Deletes an object or starts its graceful deletion. Throws 403 (built-in namespaces), 404, 409 (preconditions), 422.
 */
export async function remove<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  options: DeleteOptions = {},
): Promise<DeleteResult<T>> {
  const wanted = checkOptions(options);
  refuseImmortal(kind, ref);
  const decide = (current: ObjectRecord<T>) => {
    checkPreconditions(kind, current.object().metadata, wanted.preconditions);
    const object = current.object();
    return decideDeletion(object, wanted, graceSeconds(kind, object, wanted), deps.clock.now());
  };
  const { record, removed } = await writeOptimistically(deps, kind, ref, decide, wanted.dryRun);
  return { object: record.object(), isRemoved: removed };
}

/** meta/v1 ValidateDeleteOptions; a negative grace period counts as one second. */
function checkOptions(options: DeleteOptions): DeleteOptions {
  const { propagationPolicy, orphanDependents, gracePeriodSeconds } = options;
  const names = { group: 'meta.k8s.io', resource: '', kind: 'DeleteOptions' };
  const field = 'propagationPolicy';
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    throw invalid(names, '', [invalidValue(field, propagationPolicy, detail)]);
  }
  if (propagationPolicy !== undefined && !POLICIES.includes(propagationPolicy)) {
    throw invalid(names, '', [notSupported(field, propagationPolicy, POLICIES)]);
  }
  return (gracePeriodSeconds ?? 0) < 0 ? { ...options, gracePeriodSeconds: 1 } : options;
}

function refuseImmortal(kind: Kind, { name }: ObjectRef): void {
  if (kind.kind !== 'Namespace' || kind.group !== '' || !IMMORTAL_NAMESPACES.has(name)) return;
  const message = `${qualifiedResource(kind)} "${name}" is forbidden: this namespace may not be deleted`;
  throw new ApiError('Forbidden', message, { name, kind: kind.resource });
}

/** A Pod without a node, or one that has ended, needs no time to stop (`podStrategy.CheckGracefulDelete`). */
function graceSeconds<T extends KubeObject>(
  kind: Kind<T>,
  object: T,
  options: DeleteOptions,
): number | undefined {
  if (!kind.defaultGracePeriodSeconds) return undefined;
  if (object.kind === 'Pod' && hasNothingToStop(object as unknown as Pod)) return 0;
  const seconds = options.gracePeriodSeconds ?? kind.defaultGracePeriodSeconds(object);
  return seconds < 0 ? 1 : seconds;
}

function hasNothingToStop(pod: Pod): boolean {
  return !pod.spec.nodeName || isPodTerminal(pod);
}

/** Deletes the objects that match now. Concurrent deletions are not errors. */
export async function removeCollection<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  selection: Selection,
  options: DeleteOptions = {},
): Promise<ObjectRecord<T>[]> {
  const { records } = await listObjects(deps, kind, selection);
  for (let from = 0; from < records.length; from += COLLECTION_WIDTH) {
    const slice = records.slice(from, from + COLLECTION_WIDTH);
    await Promise.all(slice.map((record) => removeIfPresent(deps, kind, record.object().metadata, options)));
  }
  return records;
}

async function removeIfPresent<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  { namespace, name }: ObjectRef,
  options: DeleteOptions,
): Promise<void> {
  const ref = namespace === undefined ? { name } : { namespace, name };
  await orUndefined(() => remove(deps, kind, ref, options));
}
