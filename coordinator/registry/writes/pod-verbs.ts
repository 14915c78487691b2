/** Verbs for Pods only: binding, eviction and confirmed stops. */

import { STOP_CONFIRMED_CONDITION, startRulesOf } from '../../../shared/kube/daemonjobs/daemonjob-start.js';
import {
  ApiError,
  conflict,
  notFound,
  type Status,
  unlessGone,
} from '../../../shared/kube/objects/api-status.js';
import { withCondition } from '../../../shared/kube/objects/conditions.js';
import { type ObjectRef, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { DISRUPTION_TARGET, PREEMPTION_BY_SCHEDULER } from '../../../shared/kube/pods/priority-class.js';
import { podKind } from '../../kinds/pods/pod-kind.js';
import { copyJson } from '../encoding/json-value.js';
import type { ObjectRecord, RegistryDeps } from '../registry.js';
import type { DeleteOptions, Preconditions } from '../registry-options.js';
import { graceSeconds, remove } from './delete-object.js';
import { decideDeletion } from './deletion-rules.js';
import { admitEviction, checkAdmittedRevision, reviewEviction } from './eviction-admission.js';
import { checkPreconditions, writeOptimistically } from './optimistic-write.js';

/** EvictionsRetry of upstream. */
const MAX_EVICTION_ATTEMPTS = 20;

const BINDINGS = { group: '', resource: 'pods/binding', kind: 'Binding' };

/** Sets the node of a Pod, once (`pkg/registry/core/pod/storage` BindingREST). Throws 404 and 409. */
export async function bind(
  deps: RegistryDeps,
  ref: ObjectRef,
  nodeName: string,
  preconditions?: Preconditions,
): Promise<ObjectRecord<Pod>> {
  const { record } = await writeOptimistically(deps, podKind, ref, (current) => {
    checkPreconditions(BINDINGS, current.object().metadata, preconditions);
    const pod = copyJson(current.object());
    refuseBinding(pod);
    pod.spec.nodeName = nodeName;
    setPodCondition(pod, { type: 'PodScheduled', status: 'True' }, deps.clock.now());
    return { step: 'mark', object: pod };
  });
  return record;
}

function refuseBinding({ metadata, spec }: Pod): void {
  const refuse = (detail: string) => conflict(BINDINGS, metadata.name, `pod ${metadata.name} ${detail}`);
  if (metadata.deletionTimestamp) throw refuse('is being deleted, cannot be assigned to a host');
  if (spec.nodeName) throw refuse(`is already assigned to node "${spec.nodeName}"`);
}

function setPodCondition(
  pod: Pod,
  condition: { type: string; status: 'True'; reason?: string; message?: string },
  now: number,
): void {
  const conditions = withCondition(pod.status?.conditions, condition, toTimestamp(now));
  pod.status = { ...pod.status, conditions };
}

/** The policy/v1 Eviction of a Pod (`EvictionREST`). Throws 404, 409, and 429 if a budget allows no disruption. */
export async function evict(
  deps: RegistryDeps,
  ref: ObjectRef,
  requested: DeleteOptions = {},
): Promise<Status> {
  const options = await reviewEviction(deps, ref, requested);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await evictOnce(deps, ref, options);
    } catch (error) {
      // The Pod changed while it was admitted, and may count for a budget now.
      const isConflict = error instanceof ApiError && error.reason === 'Conflict';
      if (!isConflict || options.preconditions || attempt === MAX_EVICTION_ATTEMPTS) throw error;
    }
  }
}

async function evictOnce(deps: RegistryDeps, ref: ObjectRef, options: DeleteOptions): Promise<Status> {
  const { samePod, verdict } = await admitEviction(deps, ref, options);
  await writeOptimistically(
    deps,
    podKind,
    ref,
    (current) => {
      const pod = copyJson(current.object());
      checkPreconditions(podKind, pod.metadata, { ...options.preconditions, ...samePod });
      checkAdmittedRevision(pod, verdict);
      if (isPodTerminal(pod) || pod.metadata.deletionTimestamp) return { step: 'keep' };
      const reason = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' };
      setPodCondition(pod, { type: DISRUPTION_TARGET, status: 'True', ...reason }, deps.clock.now());
      return { step: 'mark', object: pod };
    },
    options.dryRun,
  );
  // Setting the condition changed the resourceVersion, so only the uid still identifies the Pod.
  try {
    await remove(deps, podKind, ref, { ...options, preconditions: samePod });
  } catch (error) {
    const isConflict = error instanceof ApiError && error.reason === 'Conflict';
    // Another Pod has taken the name. A retry would evict that Pod too.
    throw isConflict && !options.preconditions ? notFound(podKind, ref.name) : error;
  }
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
}

/** See `Registry.preempt`. */
export async function preempt(
  deps: RegistryDeps,
  ref: ObjectRef,
  message: string,
  preconditions?: Preconditions,
): Promise<ObjectRecord<Pod> | undefined> {
  let wasEnding = false;
  const { record } = await writeOptimistically(deps, podKind, ref, (current) => {
    checkPreconditions(podKind, current.object().metadata, preconditions);
    const pod = copyJson(current.object());
    wasEnding = isPodTerminal(pod) || pod.metadata.deletionTimestamp !== undefined;
    if (wasEnding) return { step: 'keep' };
    const condition = { type: DISRUPTION_TARGET, status: 'True', reason: PREEMPTION_BY_SCHEDULER } as const;
    setPodCondition(pod, { ...condition, message }, deps.clock.now());
    return decideDeletion(pod, {}, graceSeconds(podKind, pod, {}), deps.clock.now());
  });
  return wasEnding ? undefined : record;
}

/** See `Registry.confirmStopped`. A Pod that no longer exists is not an error. */
export function confirmStopped(deps: RegistryDeps, ref: ObjectRef, uid: string): Promise<void> {
  const options = { gracePeriodSeconds: 0, preconditions: { uid } };
  return unlessGone(() => remove(deps, podKind, ref, options, (pod) => stopConfirmed(pod, deps.clock.now())));
}

/** Marks a Pod with start rules. Otherwise it would look like a Pod that a user deleted without grace. */
function stopConfirmed(current: Pod, now: number): Pod {
  if (!startRulesOf(current)) return current;
  const pod = copyJson(current);
  setPodCondition(pod, { type: STOP_CONFIRMED_CONDITION, status: 'True' }, now);
  return pod;
}
