/** Which rules and selectors match a request (apiserver pkg/admission/plugin/webhook/predicates). */
import {
  ADMISSION_GROUP,
  type AdmissionRule,
  type MatchResources,
} from '../../../shared/kube/admission/admission-policy-types.js';
import type { Namespace } from '../../../shared/kube/objects/config-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { Kind } from '../../kinds/kind.js';

/** What is known of a write before its object is complete. */
export interface AdmissionTarget {
  kind: Kind;
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** "" for the object itself. */
  subresource: string;
  /** "" for cluster-scoped kinds. */
  namespace: string;
}

/** One write. An object is absent for a create or a delete. `kind` is the version in which the rule asks for it. */
export interface AdmissionRequest extends AdmissionTarget {
  /** The version that the client has sent. */
  sentAs: Kind;
  name: string;
  object?: KubeObject;
  oldObject?: KubeObject;
  namespaceObject?: Namespace;
}

function includes(list: readonly string[] | undefined, value: string): boolean {
  return list?.some((each) => each === '*' || each === value) ?? false;
}

/** `pods`, `pods/status`, `pods/*`, `*` (without subresources), `*` + `/status`, `*` + `/*`. */
function matchesResource(rule: string, resource: string, subresource: string): boolean {
  const [name, part] = rule.split('/');
  return (name === '*' || name === resource) && (part === '*' || (part ?? '') === subresource);
}

/** Rules with their policy. */
interface RuleSet {
  rules: readonly AdmissionRule[] | undefined;
  /** Default: Equivalent. */
  matchPolicy: string | undefined;
}

/**
 * Returns the version of the target's kind that a rule matches: the one that was sent if possible, else, unless the policy
 * is Exact, the first equivalent one. Returns undefined if no rule matches. Without `named`, names are not compared.
 */
export function matchedKind(
  { rules = [], matchPolicy }: RuleSet,
  target: AdmissionTarget,
  equivalents: () => readonly Kind[],
  named?: { name: string },
): Kind | undefined {
  const matches = (kind: Kind) =>
    rules.some((rule) => {
      const { resourceNames: names = [] } = rule;
      const isNamed = !named || names.length === 0 || names.includes(named.name);
      return isNamed && matchesRule(rule, { ...target, kind });
    });
  if (matches(target.kind)) return target.kind;
  return matchPolicy === 'Exact' || rules.length === 0 ? undefined : equivalents().find(matches);
}

function matchesRule(rule: AdmissionRule, target: AdmissionTarget): boolean {
  const { kind, operation, subresource } = target;
  const scope = kind.namespaced ? 'Namespaced' : 'Cluster';
  return (
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, kind.group) &&
    includes(rule.apiVersions, kind.version) &&
    (rule.resources ?? []).some((each) => matchesResource(each, kind.resource, subresource)) &&
    ((rule.scope ?? '*') === '*' || rule.scope === scope)
  );
}

/**
 * Returns the version of the request's kind that the rules match, if exclusions and selectors match too. A binding without
 * rules matches all of its policy's requests.
 */
export function matchedResources(
  match: MatchResources | undefined,
  request: AdmissionRequest,
  equivalents: () => readonly Kind[],
): Kind | undefined {
  if (!match) return request.kind;
  const { resourceRules, excludeResourceRules, matchPolicy } = match;
  const isExcluded = matchedKind({ rules: excludeResourceRules, matchPolicy }, request, equivalents, request);
  if (isExcluded || !matchesSelectors(match, request)) return undefined;
  if (!resourceRules?.length) return request.kind;
  return matchedKind({ rules: resourceRules, matchPolicy }, request, equivalents, request);
}

/** Cluster-scoped objects other than Namespaces match every namespaceSelector. */
export function matchesSelectors(
  { namespaceSelector, objectSelector }: MatchResources,
  { kind, object, oldObject, namespaceObject }: AdmissionRequest,
): boolean {
  const isNamespace = kind.kind === 'Namespace' && kind.group === '';
  const namespace = isNamespace ? (object ?? oldObject) : namespaceObject;
  if (
    namespace &&
    namespaceSelector &&
    !compileLabelSelector(namespaceSelector).matches(namespace.metadata.labels)
  ) {
    return false;
  }
  const objects = compileLabelSelector(objectSelector ?? {});
  if (objects.empty) return true;
  return [object, oldObject].some((each) => each !== undefined && objects.matches(each.metadata.labels));
}

const OWN_RESOURCES: ReadonlySet<string> = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
]);

/** Policies and webhooks never decide on their own kinds: a wrong one could not be removed. */
export function isExempt({ group, resource }: Pick<Kind, 'group' | 'resource'>): boolean {
  return group === ADMISSION_GROUP && OWN_RESOURCES.has(resource);
}
