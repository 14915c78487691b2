/** The ValidatingAdmissionPolicy admission plugin (apiserver pkg/admission/plugin/policy/validating). */
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../shared/kube/admission/admission-policy-types.js';
import { ApiError, qualifiedResource, type StatusReason } from '../../../shared/kube/objects/api-status.js';
import type { Namespace } from '../../../shared/kube/objects/config-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { type CompiledPolicy, compilePolicy } from '../../cel/policies/compile-policy.js';
import { evaluatePolicy, type PolicyOutcome } from '../../cel/policies/evaluate-policy.js';
import type { AskAccess } from '../../cel/policies/policy-environment.js';
import type { Kind } from '../../kinds/kind.js';
import { decodeShared } from '../encoding/decoded-objects.js';
import type { AdmissionPolicies, RegistryDeps } from '../registry.js';
import type { WriteOptions } from '../registry-options.js';
import { namespaceKey } from '../storage-keys.js';
import {
  type AdmissionRequest,
  type AdmissionTarget,
  isExempt,
  matchedKind,
  matchedResources,
} from './admission-matching.js';
import { equivalentKinds, inVersion, isConvertedByWebhook } from './equivalent-kinds.js';
import { assumedObject } from './namespace-lifecycle.js';
import { loadParams, type ParamSource } from './policy-params.js';
import { requestScope } from './policy-request.js';

/** The options of a write that admission reads. */
type AdmittedOptions = Pick<
  WriteOptions,
  'user' | 'groups' | 'dryRun' | 'warn' | 'annotate' | 'assumed' | 'subresource'
>;

/** A policy that can match, one of its bindings, and the parameters: [null] if the policy has none. */
interface ActiveBinding {
  policy: ValidatingAdmissionPolicy;
  binding: ValidatingAdmissionPolicyBinding;
  params: ParamSource;
}

type Check = (request: Omit<AdmissionRequest, keyof AdmissionTarget | 'namespaceObject' | 'sentAs'>) => void;

/** Informers share objects, so a policy is compiled once for each of its versions. */
const compiled = new WeakMap<ValidatingAdmissionPolicy, CompiledPolicy>();

function compiledOf(policy: ValidatingAdmissionPolicy): CompiledPolicy {
  const known = compiled.get(policy) ?? compilePolicy(policy);
  compiled.set(policy, known);
  return known;
}

/**
 * Returns a check of one write, or undefined if no policy can match it. Reads namespace and parameters first, because
 * the check runs inside the write.
 */
export async function policyCheck(
  deps: Pick<RegistryDeps, 'store' | 'kinds' | 'customKinds' | 'policies'>,
  target: AdmissionTarget,
  options: AdmittedOptions,
): Promise<Check | undefined> {
  const { policies, store } = deps;
  if (!policies || isExempt(target.kind)) return undefined;
  const equivalents = () => equivalentKinds(deps, target.kind);
  const pairs = possiblePairs(policies, target, equivalents);
  if (pairs.length === 0) return undefined;
  const namespaceObject = await findNamespace(store, target, options);
  const active = await Promise.all(
    pairs.map(async ({ policy, binding }): Promise<ActiveBinding> => {
      const params = await loadParams(deps, policy, binding, target.namespace);
      return { policy, binding, params };
    }),
  );
  return (objects) => {
    const namespace = namespaceObject ? { namespaceObject } : {};
    const request = { ...target, sentAs: target.kind, ...objects, ...namespace };
    decide(active, { request, equivalents }, options, policies.ask);
  };
}

function possiblePairs(
  policies: AdmissionPolicies,
  target: AdmissionTarget,
  equivalents: () => readonly Kind[],
): { policy: ValidatingAdmissionPolicy; binding: ValidatingAdmissionPolicyBinding }[] {
  const pairs = [];
  for (const binding of policies.bindings()) {
    const policy = policies.policy(binding.spec?.policyName ?? '');
    const { resourceRules: rules, matchPolicy } = policy?.spec?.matchConstraints ?? {};
    if (policy && matchedKind({ rules, matchPolicy }, target, equivalents)) pairs.push({ policy, binding });
  }
  return pairs;
}

async function findNamespace(
  store: RegistryDeps['store'],
  { kind, namespace }: AdmissionTarget,
  { assumed }: AdmittedOptions,
): Promise<Namespace | undefined> {
  if (!kind.namespaced || namespace === '') return undefined;
  const known = assumedObject<Namespace>(assumed, 'Namespace', { name: namespace });
  if (known) return known;
  const stored = await store.get(namespaceKey(namespace));
  return stored && decodeShared<Namespace>(stored.value, stored.revision);
}

interface Denial {
  text: string;
  message: string;
  reason: string;
}

/** Evaluates all bindings. Throws the first denial; warns and annotates as the bindings say. */
function decide(
  active: readonly ActiveBinding[],
  { request, equivalents }: { request: AdmissionRequest; equivalents: () => readonly Kind[] },
  options: AdmittedOptions,
  ask: AskAccess,
): void {
  const denials: Denial[] = [];
  const failures: Record<string, unknown>[] = [];
  for (const { policy, binding, params } of active) {
    const kind = matchedResources(policy.spec?.matchConstraints, request, equivalents);
    if (!kind || !matchedResources(binding.spec?.matchResources, request, equivalents)) continue;
    const names = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}'`;
    const failure = failureOf(request.kind, kind, params);
    if (failure !== undefined || 'failed' in params) {
      if (policy.spec?.failurePolicy === 'Ignore') continue;
      const message = failure ?? '';
      denials.push({ text: `${names} denied request: ${message}`, message, reason: 'Invalid' });
      continue;
    }
    for (const param of params.found) {
      const scope = requestScope(inMatchedVersion(request, kind), { ...options, ask, param });
      const outcome = evaluatePolicy(compiledOf(policy), policy.spec?.failurePolicy ?? 'Fail', scope);
      applyActions(outcome, { policy, binding, names, options, denials, failures });
    }
  }
  if (failures.length > 0) {
    options.annotate?.('validation.policy.admission.k8s.io/validation_failure', JSON.stringify(failures));
  }
  const [first] = denials;
  if (first) throw denied(request, first);
}

/** Returns why a policy cannot be evaluated. Its check runs inside the write, where no webhook can be called. */
function failureOf(sent: Kind, matched: Kind, params: ParamSource): string | undefined {
  if ('failed' in params) return `failed to configure ${params.of}: ${params.failed}`;
  if (!isConvertedByWebhook(sent, matched)) return undefined;
  return `the conversion webhook of ${qualifiedResource(sent)} is not called for policies: add version ${sent.version} to resourceRules`;
}

function inMatchedVersion(request: AdmissionRequest, kind: Kind): AdmissionRequest {
  const { kind: sent, object, oldObject } = request;
  return {
    ...request,
    kind,
    ...(object ? { object: inVersion(object, sent, kind) } : {}),
    ...(oldObject ? { oldObject: inVersion(oldObject, sent, kind) } : {}),
  };
}

interface ActionContext {
  policy: ValidatingAdmissionPolicy;
  binding: ValidatingAdmissionPolicyBinding;
  names: string;
  options: AdmittedOptions;
  denials: Denial[];
  failures: Record<string, unknown>[];
}

function applyActions({ denials, annotations }: PolicyOutcome, context: ActionContext): void {
  const { policy, binding, names, options } = context;
  const actions = binding.spec?.validationActions ?? [];
  for (const { message, reason, index } of denials) {
    if (actions.includes('Deny')) {
      context.denials.push({ text: `${names} denied request: ${message}`, message, reason });
    }
    if (actions.includes('Warn')) options.warn?.(`Validation failed for ${names}: ${message}`);
    if (actions.includes('Audit')) {
      context.failures.push({
        message,
        policy: policy.metadata.name,
        binding: binding.metadata.name,
        expressionIndex: index,
        validationActions: actions,
      });
    }
  }
  for (const { key, value } of annotations) options.annotate?.(`${policy.metadata.name}/${key}`, value);
}

function denied({ kind, name }: AdmissionRequest, { text, reason }: Denial): ApiError {
  return new ApiError(reason as StatusReason, `${qualifiedResource(kind)} "${name}" is forbidden: ${text}`, {
    name,
    ...(kind.group ? { group: kind.group } : {}),
    kind: kind.resource,
    causes: [{ message: text }],
  });
}

/** Adds the policies' check to the review of a write. */
export async function withPolicies<T extends WriteOptions>(
  deps: Pick<RegistryDeps, 'store' | 'kinds' | 'customKinds' | 'policies'>,
  kind: Kind,
  namespace: string | undefined,
  { operation, options }: { operation: 'CREATE' | 'UPDATE'; options: T },
): Promise<T> {
  if (!deps.policies) return options;
  const subresource = options.subresource ?? '';
  const target: AdmissionTarget = { kind, operation, subresource, namespace: namespace ?? '' };
  const check = await policyCheck(deps, target, options);
  if (!check) return options;
  const { review, reviewedAs } = options;
  const shown = (object: KubeObject) => reviewedAs?.show(object) ?? object;
  return {
    ...options,
    review: (reviewed: Kind, next: KubeObject, current: KubeObject | undefined) => {
      review?.(reviewed, next, current);
      const oldObject = current && { oldObject: shown(current) };
      check({ name: next.metadata.name, object: shown(next), ...oldObject });
    },
  };
}
