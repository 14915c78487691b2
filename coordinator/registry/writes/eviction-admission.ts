/** Spends a disruption of the PodDisruptionBudget that covers an evicted Pod (`EvictionREST`). */
import { badRequest, conflict, isNotFound } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectMeta, ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { PodDisruptionBudget } from '../../../shared/kube/policy/disruption-budget-types.js';
import {
  type EvictionVerdict,
  evictionVerdict,
  spendDisruption,
  stillProcessed,
} from '../../decisions/policy/eviction-verdict.js';
import type { Kind } from '../../kinds/kind.js';
import { podKind } from '../../kinds/pods/pod-kind.js';
import { podDisruptionBudgetKind } from '../../kinds/policy/poddisruptionbudget-kind.js';
import { policyCheck } from '../admission/policy-admission.js';
import { matchingWebhooks, mutate, validateByWebhooks } from '../admission/webhook-admission.js';
import { decodeShared } from '../encoding/decoded-objects.js';
import { copyJson } from '../encoding/json-value.js';
import { getObject } from '../reads/read-objects.js';
import type { RegistryDeps } from '../registry.js';
import type { DeleteOptions, Preconditions } from '../registry-options.js';
import { prefixOf } from '../storage-keys.js';
import { checkPreconditions, writeOptimistically } from './optimistic-write.js';

/** The fields of policy/v1 Eviction that are read. */
interface Eviction extends KubeObject {
  deleteOptions?: Pick<DeleteOptions, 'gracePeriodSeconds' | 'propagationPolicy' | 'preconditions'>;
}

/**
 * Lets policies and webhooks decide on the Eviction, as CREATE of `pods/eviction`. Returns the options of the deletion,
 * which a mutating webhook may have changed. Throws their refusal.
 */
export async function reviewEviction(
  deps: RegistryDeps,
  { name, namespace = '' }: ObjectRef,
  options: DeleteOptions,
): Promise<DeleteOptions> {
  const kind = podKind as unknown as Kind;
  const target = { kind, operation: 'CREATE', subresource: 'eviction', namespace } as const;
  const sent = evictionOf({ name, namespace }, options);
  const webhooks = matchingWebhooks(deps, target);
  const object = webhooks ? await mutate(deps, webhooks, { name, object: sent }, options) : sent;
  if (deps.policies) (await policyCheck(deps, target, options))?.({ name, object });
  if (webhooks) await validateByWebhooks(deps, webhooks, { name, object }, options);
  if (object === sent) return options;
  const { gracePeriodSeconds } = object.deleteOptions ?? {};
  if (gracePeriodSeconds !== undefined && !Number.isInteger(gracePeriodSeconds)) {
    throw badRequest('a mutating webhook set deleteOptions.gracePeriodSeconds, which must be an integer');
  }
  return { ...withoutDeleteOptions(options), ...object.deleteOptions };
}

function evictionOf(metadata: ObjectMeta, options: DeleteOptions): Eviction {
  const { gracePeriodSeconds, propagationPolicy, preconditions } = options;
  const deleteOptions = {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy ? { propagationPolicy } : {}),
    ...(preconditions ? { preconditions } : {}),
  };
  const body = Object.keys(deleteOptions).length > 0 ? { deleteOptions } : {};
  return { apiVersion: 'policy/v1', kind: 'Eviction', metadata, ...body };
}

function withoutDeleteOptions(options: DeleteOptions): DeleteOptions {
  const { gracePeriodSeconds: _, propagationPolicy: __, preconditions: ___, ...rest } = options;
  return rest;
}

interface AdmittedEviction {
  /** Identifies the Pod that the verdict is about: another Pod of its name needs a verdict of its own. */
  samePod: Preconditions;
  verdict: EvictionVerdict;
}

/**
 * Returns the verdict on the stored Pod, after a disruption is spent if one is needed. Budgets are read from the store:
 * an informer may not have a budget that a client has just created. The status of a budget is changed in one
 * compare-and-swap write, so concurrent evictions cannot spend the same disruption.
 */
export async function admitEviction(
  deps: RegistryDeps,
  ref: ObjectRef,
  { preconditions, dryRun = false }: DeleteOptions,
): Promise<AdmittedEviction> {
  const pod = (await getObject(deps, podKind, ref)).object();
  checkPreconditions(podKind, pod.metadata, preconditions);
  const { items } = await deps.store.list(prefixOf(podDisruptionBudgetKind, ref.namespace));
  const budgets = items.map(({ value, revision }) => decodeShared<PodDisruptionBudget>(value, revision));
  const verdict = evictionVerdict(pod, budgets);
  if (verdict.outcome === 'spend') await spend(deps, verdict.budget, pod, dryRun);
  const { uid } = pod.metadata;
  return { samePod: uid === undefined ? {} : { uid }, verdict };
}

async function spend(
  deps: RegistryDeps,
  { metadata }: PodDisruptionBudget,
  pod: Pod,
  dryRun: boolean,
): Promise<void> {
  const decide = (current: { object(): PodDisruptionBudget }) => {
    const budget = copyJson(current.object());
    budget.status = spendDisruption(budget, pod.metadata.name, deps.clock.now());
    return { step: 'mark', object: budget, statusOnly: true } as const;
  };
  try {
    await writeOptimistically(deps, podDisruptionBudgetKind, metadata, decide, dryRun);
  } catch (error) {
    // The budget was deleted meanwhile. Clients take a 404 for a Pod that no longer exists.
    throw isNotFound(error) ? conflict(podKind, pod.metadata.name) : error;
  }
}

/** Throws if the Pod has changed since the verdict and may count for its budget now. */
export function checkAdmittedRevision({ metadata }: Pod, verdict: EvictionVerdict): void {
  if (verdict.outcome !== 'free' || verdict.atRevision === undefined) return;
  if (metadata.resourceVersion === verdict.atRevision) return;
  throw verdict.budget === undefined ? conflict(podKind, metadata.name) : stillProcessed(verdict.budget);
}
