/** The MutatingAdmissionWebhook and ValidatingAdmissionWebhook plugins (apiserver pkg/admission/plugin/webhook). */
import type { AdmissionWebhook, WebhookConfiguration } from '../../../shared/kube/admission/webhook-types.js';
import { ApiError, qualifiedResource } from '../../../shared/kube/objects/api-status.js';
import type { Namespace } from '../../../shared/kube/objects/config-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { type CompiledCondition, compileConditions } from '../../cel/policies/compile-policy.js';
import { evaluateConditions } from '../../cel/policies/evaluate-policy.js';
import type { Kind } from '../../kinds/kind.js';
import { decodeShared } from '../encoding/decoded-objects.js';
import { sameJson } from '../encoding/json-value.js';
import type { AdmissionWebhooks, RegistryDeps } from '../registry.js';
import type { WriteOptions } from '../registry-options.js';
import { namespaceKey } from '../storage-keys.js';
import {
  type AdmissionRequest,
  type AdmissionTarget,
  isExempt,
  matchedKind,
  matchesSelectors,
} from './admission-matching.js';
import { equivalentKinds, inVersionByWebhook } from './equivalent-kinds.js';
import { requestScope } from './policy-request.js';
import { callWebhook, patched } from './webhook-answer.js';

type WebhookDeps = Pick<RegistryDeps, 'store' | 'webhooks' | 'policies'>;
type CallOptions = Pick<WriteOptions, 'user' | 'groups' | 'dryRun' | 'warn' | 'annotate'>;
type Objects = Pick<AdmissionRequest, 'name' | 'object' | 'oldObject'>;

/** A webhook, and the version in which it asks for the object. */
interface MatchingWebhook {
  webhook: AdmissionWebhook;
  kind: Kind;
}

/** The webhooks that can match one write. */
interface MatchingWebhooks {
  target: AdmissionTarget;
  mutating: readonly MatchingWebhook[];
  validating: readonly MatchingWebhook[];
}

/** Returns undefined if no rule of a webhook matches: then admission costs nothing more. */
export function matchingWebhooks(
  deps: Pick<RegistryDeps, 'webhooks' | 'kinds' | 'customKinds'>,
  target: AdmissionTarget,
): MatchingWebhooks | undefined {
  const { webhooks } = deps;
  if (!webhooks || isExempt(target.kind)) return undefined;
  const equivalents = () => equivalentKinds(deps, target.kind);
  const [mutating, validating] = [webhooks.mutating(), webhooks.validating()].map((configurations) =>
    matching(configurations, target, equivalents),
  );
  if (!mutating?.length && !validating?.length) return undefined;
  return { target, mutating: mutating ?? [], validating: validating ?? [] };
}

/** In the order of the configurations' names. */
function matching(
  configurations: Iterable<WebhookConfiguration>,
  target: AdmissionTarget,
  equivalents: () => readonly Kind[],
): MatchingWebhook[] {
  const matches = [...configurations].map(({ metadata, webhooks = [] }) => ({
    name: metadata.name,
    webhooks: webhooks.flatMap((webhook) => {
      const kind = matchedKind(
        { rules: webhook.rules, matchPolicy: webhook.matchPolicy },
        target,
        equivalents,
      );
      return kind ? [{ webhook, kind }] : [];
    }),
  }));
  const called = matches.filter(({ webhooks }) => webhooks.length > 0);
  return called.sort((a, b) => (a.name < b.name ? -1 : 1)).flatMap(({ webhooks }) => webhooks);
}

const conditions = new WeakMap<AdmissionWebhook, CompiledCondition[]>();

function conditionsOf(webhook: AdmissionWebhook): CompiledCondition[] {
  const known =
    conditions.get(webhook) ??
    compileConditions(webhook.matchConditions, { hasParams: false, hasAuthorizer: true });
  conditions.set(webhook, known);
  return known;
}

/** True if the match conditions of a webhook hold. An error of a condition refuses the request, unless it is ignored. */
function isCalled(
  deps: WebhookDeps,
  webhook: AdmissionWebhook,
  request: AdmissionRequest,
  options: CallOptions,
): boolean {
  if (!webhook.matchConditions?.length) return true;
  const ask = deps.policies?.ask ?? (() => ({ allowed: false, reason: '' }));
  const scope = requestScope(request, { ...options, ask, param: null });
  const outcome = evaluateConditions(conditionsOf(webhook), scope);
  if (typeof outcome === 'string') return outcome === 'matches';
  if (webhook.failurePolicy === 'Ignore') return false;
  const { kind, name } = request;
  const text = `${qualifiedResource(kind)} "${name}" is forbidden: ${outcome.failed}`;
  throw new ApiError('Forbidden', text, { name, kind: kind.resource });
}

async function requestOf(
  { store }: WebhookDeps,
  { target }: MatchingWebhooks,
  objects: Objects,
): Promise<AdmissionRequest> {
  const { namespace } = target;
  const stored = namespace === '' ? undefined : await store.get(namespaceKey(namespace));
  const namespaceObject = stored && decodeShared<Namespace>(stored.value, stored.revision);
  return { ...target, sentAs: target.kind, ...objects, ...(namespaceObject ? { namespaceObject } : {}) };
}

/**
 * Returns the request in the version that the webhook asks for, or undefined if its selectors exclude the object. An
 * excluded object is not converted: its write must not need a conversion webhook that is offline.
 */
async function inMatchedVersion(
  webhooks: AdmissionWebhooks,
  webhook: AdmissionWebhook,
  request: AdmissionRequest,
  kind: Kind,
): Promise<AdmissionRequest | undefined> {
  if (!matchesSelectors(webhook, request)) return undefined;
  const { kind: sent, object, oldObject } = request;
  if (sent === kind) return request;
  return {
    ...request,
    kind,
    ...(object ? { object: await inVersionByWebhook(webhooks, object, sent, kind) } : {}),
    ...(oldObject ? { oldObject: await inVersionByWebhook(webhooks, oldObject, sent, kind) } : {}),
  };
}

/**
 * Calls the mutating webhooks one after the other. Returns the changed object, or the same if none changed it. A webhook
 * with reinvocationPolicy IfNeeded is called once more if a later one changed the object.
 */
export async function mutate<T extends KubeObject>(
  deps: WebhookDeps,
  matches: MatchingWebhooks,
  objects: Objects & { object: T },
  options: CallOptions,
): Promise<T> {
  const { webhooks } = deps;
  if (!webhooks || matches.mutating.length === 0) return objects.object;
  const base = await requestOf(deps, matches, objects);
  let object: KubeObject = objects.object;
  const seen = new Map<AdmissionWebhook, KubeObject>();
  for (const round of [0, 1]) {
    for (const [index, { webhook, kind }] of matches.mutating.entries()) {
      const last = seen.get(webhook);
      const isAgain = webhook.reinvocationPolicy === 'IfNeeded' && last && !sameJson(last, object);
      if (round === 1 && !isAgain) continue;
      const request = await inMatchedVersion(webhooks, webhook, { ...base, object }, kind);
      if (!request || !isCalled(deps, webhook, request, options)) continue;
      const patch = await callWebhook(webhooks, { webhook, isMutating: true, index }, request, options);
      if (patch) {
        const changed = patched(request.object ?? object, patch, webhook.name ?? '') as KubeObject;
        object = await inVersionByWebhook(webhooks, changed, kind, base.kind);
      }
      seen.set(webhook, object);
    }
  }
  return object as T;
}

/** Calls the validating webhooks at the same time. Throws the first refusal. */
export async function validateByWebhooks(
  deps: WebhookDeps,
  matches: MatchingWebhooks,
  objects: Objects,
  options: CallOptions,
): Promise<void> {
  const { webhooks } = deps;
  if (!webhooks || matches.validating.length === 0) return;
  const base = await requestOf(deps, matches, objects);
  const asked = await Promise.all(
    matches.validating.map(async ({ webhook, kind }) => ({
      webhook,
      request: await inMatchedVersion(webhooks, webhook, base, kind),
    })),
  );
  const called = asked.flatMap(({ webhook, request }) =>
    request && isCalled(deps, webhook, request, options) ? [{ webhook, request }] : [],
  );
  const outcomes = await Promise.allSettled(
    called.map(({ webhook, request }, index) =>
      callWebhook(webhooks, { webhook, isMutating: false, index }, request, options),
    ),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Lets all webhooks decide on a write that they cannot change, such as a deletion. Patches have no effect. */
export async function reviewUnchanged(
  deps: WebhookDeps,
  matches: MatchingWebhooks,
  objects: Objects,
  options: CallOptions,
): Promise<void> {
  const { webhooks } = deps;
  if (!webhooks) return;
  const base = await requestOf(deps, matches, objects);
  for (const [index, { webhook, kind }] of matches.mutating.entries()) {
    const request = await inMatchedVersion(webhooks, webhook, base, kind);
    if (!request || !isCalled(deps, webhook, request, options)) continue;
    await callWebhook(webhooks, { webhook, isMutating: true, index }, request, options);
  }
  await validateByWebhooks(deps, matches, objects, options);
}
