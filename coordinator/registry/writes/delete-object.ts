/** The verbs delete and deletecollection. */

import {
  ApiError,
  invalid,
  orUndefined,
  qualifiedResource,
} from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { SCHEDULING_GROUP, SYSTEM_CLASSES } from '../../../shared/kube/pods/priority-class.js';
import type { Kind } from '../../kinds/kind.js';
import { invalidValue, notSupported } from '../../kinds/validation/field-error.js';
import { depsFor } from '../admission/bootstrap-exemption.js';
import { policyCheck } from '../admission/policy-admission.js';
import { matchingWebhooks, reviewUnchanged } from '../admission/webhook-admission.js';
import { listObjects } from '../reads/read-objects.js';
import type { DeleteResult, ObjectRecord, RegistryDeps } from '../registry.js';
import type { DeleteOptions, Selection } from '../registry-options.js';
import { decideDeletion } from './deletion-rules.js';
import { checkPreconditions, writeOptimistically } from './optimistic-write.js';

/** Concurrent deletions of a collection: enough to share commits, few enough to bound memory. */
const COLLECTION_WIDTH = 64;

/** Namespaces that cannot be deleted (`plugin/pkg/admission/namespace/lifecycle`). */
const IMMORTAL_NAMESPACES = new Set(['default', 'kube-system', 'kube-public']);

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/**
 * Deletes an object or starts its graceful deletion. `prepare` returns the object to mark as terminating, in the same
 * write. Throws 403 (built-in namespaces and PriorityClasses), 404, 409 (preconditions), 422.
 */
export async function remove<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  options: DeleteOptions = {},
  prepare: (current: T) => T = (current) => current,
): Promise<DeleteResult<T>> {
  const wanted = checkOptions(options);
  refuseImmortal(kind, ref);
  const target = { kind, operation: 'DELETE' as const, subresource: '', namespace: ref.namespace ?? '' };
  const needed = depsFor(deps, wanted);
  const check = needed.policies && (await policyCheck(needed, target, wanted));
  const decide = (current: ObjectRecord<T>) => {
    checkPreconditions(kind, current.object().metadata, wanted.preconditions);
    const object = current.object();
    check?.({ name: ref.name, oldObject: object });
    const decision = () =>
      decideDeletion(
        prepare(object),
        withDefaultPolicy(kind, object, wanted),
        graceSeconds(kind, object, wanted),
        deps.clock.now(),
      );
    const webhooks = matchingWebhooks(needed, target);
    if (!webhooks) return decision();
    return reviewUnchanged(needed, webhooks, { name: ref.name, oldObject: object }, wanted).then(decision);
  };
  const { record, removed } = await writeOptimistically(deps, kind, ref, decide, wanted.dryRun);
  return { object: record.object(), isRemoved: removed };
}

/** A kind may keep its dependents by default, unless an earlier DELETE chose (`rest.GarbageCollectionDeleteStrategy`). */
function withDefaultPolicy(kind: Kind, { metadata }: KubeObject, options: DeleteOptions): DeleteOptions {
  const isChosen = options.propagationPolicy !== undefined || options.orphanDependents !== undefined;
  if (!kind.orphansByDefault || isChosen || metadata.deletionTimestamp) return options;
  return { ...options, propagationPolicy: 'Orphan' };
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

/** Returns why an object cannot be deleted. The system PriorityClasses: pkg/registry/scheduling/priorityclass/storage. */
function immortality({ group, kind }: Kind, { name }: ObjectRef): string | undefined {
  if (kind === 'Namespace' && group === '' && IMMORTAL_NAMESPACES.has(name))
    return 'this namespace may not be deleted';
  if (kind === 'PriorityClass' && group === SCHEDULING_GROUP && SYSTEM_CLASSES.has(name))
    return 'this is a system priority class and cannot be deleted';
  return undefined;
}

function refuseImmortal(kind: Kind, ref: ObjectRef): void {
  const why = immortality(kind, ref);
  if (why === undefined) return;
  const { name } = ref;
  const message = `${qualifiedResource(kind)} "${name}" is forbidden: ${why}`;
  throw new ApiError('Forbidden', message, {
    name,
    ...(kind.group ? { group: kind.group } : {}),
    kind: kind.resource,
  });
}

/** A Pod without a node, or one that has ended, needs no time to stop (`podStrategy.CheckGracefulDelete`). */
export function graceSeconds<T extends KubeObject>(
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
  const listed = await listObjects(deps, kind, selection);
  const records = listed.records.filter((record) => !immortality(kind, record.object().metadata));
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
