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

/** One write. An object is absent for a create or a delete. */
export interface AdmissionRequest extends AdmissionTarget {
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

/** Returns true if a rule matches. Names are not compared. */
export function matchesRule(rule: AdmissionRule, target: AdmissionTarget): boolean {
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

function matchesNamedRule(rule: AdmissionRule, request: AdmissionRequest): boolean {
  const { resourceNames: names = [] } = rule;
  return matchesRule(rule, request) && (names.length === 0 || names.includes(request.name));
}

/** Returns true if rules, exclusions and selectors match. A binding without rules matches all of its policy's requests. */
export function matchesResources(match: MatchResources | undefined, request: AdmissionRequest): boolean {
  if (!match) return true;
  const { resourceRules = [], excludeResourceRules = [] } = match;
  return (
    (resourceRules.length === 0 || resourceRules.some((rule) => matchesNamedRule(rule, request))) &&
    !excludeResourceRules.some((rule) => matchesNamedRule(rule, request)) &&
    matchesSelectors(match, request)
  );
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
