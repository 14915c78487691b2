/** The verbs update (PUT), modify and writeStatus. */
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { withAdmissionReviews } from '../admission/admission-reviews.js';
import { depsFor } from '../admission/bootstrap-exemption.js';
import { policyCheck, withPolicies } from '../admission/policy-admission.js';
import { admitThroughWebhooks } from '../admission/webhook-update.js';
import { admitUpdate, type Replacement, refuseInvalid } from '../admission/write-admission.js';
import { copyJson } from '../encoding/json-value.js';
import { trackUpdate } from '../managed-fields/track-write.js';
import type { ObjectRecord, RegistryDeps } from '../registry.js';
import type { Preconditions, WriteOptions } from '../registry-options.js';
import { checkPreconditions, type WriteDecision, writeOptimistically } from './optimistic-write.js';
import { ownCopy } from './own-copy.js';

/** Replaces the whole object. Throws 400, 404, 409 (another resourceVersion or uid), 422. */
export async function update<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  body: unknown,
  options: WriteOptions = {},
): Promise<ObjectRecord<T>> {
  const reviewed = await withAdmissionReviews(deps, kind, ref.namespace, options);
  const decide = (record: ObjectRecord<T>) => {
    const current = record.object();
    const replacement = { ref, body: ownCopy(kind, body, current), current, now: deps.clock.now() };
    return markUpdate(deps, kind, replacement, reviewed);
  };
  return (await writeOptimistically(deps, kind, ref, decide, options.dryRun)).record;
}

/** See `Registry.modify`. */
export async function modify<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  change: (object: T) => undefined | false,
  options: WriteOptions & { preconditions?: Preconditions } = {},
): Promise<ObjectRecord<T>> {
  const needed = depsFor(deps, options);
  const reviewed = await withPolicies(needed, kind, ref.namespace, { operation: 'UPDATE', options });
  const decide = (record: ObjectRecord<T>) => {
    const current = record.object();
    checkPreconditions(kind, current.metadata, options.preconditions);
    const body = copyJson(current);
    if (change(body) === false) return { step: 'keep' as const };
    const replacement = { ref, body, current, now: deps.clock.now() };
    return markUpdate(needed, kind, replacement, reviewed);
  };
  return (await writeOptimistically(deps, kind, ref, decide, options.dryRun)).record;
}

/** See `Registry.writeStatus`. The ownership of fields does not change. Throws 404, 409 and 422. */
export async function writeStatus<T extends KubeObject & { status?: unknown }>(
  deps: RegistryDeps,
  kind: Kind<T>,
  ref: ObjectRef,
  statusOf: (current: T) => T['status'] | undefined,
  preconditions?: Preconditions,
): Promise<ObjectRecord<T>> {
  const target = {
    kind,
    operation: 'UPDATE' as const,
    subresource: 'status',
    namespace: ref.namespace ?? '',
  };
  const check = deps.policies && (await policyCheck(deps, target, {}));
  const decide = (record: ObjectRecord<T>): WriteDecision<T> => {
    const current = record.object();
    checkPreconditions(kind, current.metadata, preconditions);
    const status = statusOf(current);
    if (status === undefined) return { step: 'keep' };
    const object = { ...current, metadata: { ...current.metadata }, status };
    refuseInvalid(kind, ref.name, kind.validateStatusUpdate?.(object, current) ?? []);
    check?.({ name: ref.name, object, oldObject: current });
    return { step: 'mark', object, statusOnly: true };
  };
  return (await writeOptimistically(deps, kind, ref, decide)).record;
}

/** Returns the decision to store an update or patch. Webhooks make it wait; without them it is immediate. */
export function markUpdate<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  replacement: Replacement<T>,
  options: WriteOptions,
): WriteDecision<T> | Promise<WriteDecision<T>> {
  const mark = (object: T): WriteDecision<T> => ({ step: 'mark', object });
  const admit = (changed: Replacement<T>): T => admitTrackedUpdate(kind, changed, options);
  const admitted = admitThroughWebhooks(deps, kind, replacement, { options, admit });
  return admitted instanceof Promise ? admitted.then(mark) : mark(admitted);
}

/** Returns the object that an update or patch stores, with its managedFields. Throws 400, 409 and 422. */
function admitTrackedUpdate<T extends KubeObject>(
  kind: Kind<T>,
  replacement: Replacement<T>,
  options: WriteOptions,
): T {
  const next = admitUpdate(kind, replacement, options);
  trackUpdate(kind, next, replacement.current, options, replacement.now);
  return next;
}
