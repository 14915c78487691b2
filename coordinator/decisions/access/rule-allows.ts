/** Decides whether a rule of a role allows an access (pkg/apis/rbac/v1/evaluation_helpers.go). */
import type {
  Access,
  PathAccess,
  PolicyRule,
  ResourceAccess,
} from '../../../shared/kube/access/rbac-types.js';

const ALL = '*';

export function ruleAllows(rule: PolicyRule, access: Access): boolean {
  return 'path' in access ? allowsPath(rule, access) : allowsResource(rule, access);
}

export function rulesAllow(rules: readonly PolicyRule[], access: Access): boolean {
  return rules.some((rule) => ruleAllows(rule, access));
}

function allowsResource(rule: PolicyRule, { verb, group, name, ...asked }: ResourceAccess): boolean {
  return (
    holds(rule.verbs, verb) &&
    holds(rule.apiGroups, group) &&
    matchesResource(rule.resources, asked) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(name))
  );
}

function allowsPath(rule: PolicyRule, { verb, path }: PathAccess): boolean {
  return (
    holds(rule.verbs, verb) && (rule.nonResourceURLs ?? []).some((pattern) => matchesPath(pattern, path))
  );
}

function holds(values: readonly string[] | undefined, wanted: string): boolean {
  return values?.some((value) => value === ALL || value === wanted) ?? false;
}

/** A rule names a subresource as `pods/log`, or as `*` + `/log` for all resources. */
function matchesResource(
  resources: readonly string[] | undefined,
  { resource, subresource }: Pick<ResourceAccess, 'resource' | 'subresource'>,
): boolean {
  const combined = subresource ? `${resource}/${subresource}` : resource;
  return (
    resources?.some(
      (value) =>
        value === ALL || value === combined || (subresource !== '' && value === `${ALL}/${subresource}`),
    ) ?? false
  );
}

/** `*` matches every path, and at the end of a pattern every suffix. */
function matchesPath(pattern: string, path: string): boolean {
  if (pattern === ALL || pattern === path) return true;
  return pattern.endsWith(ALL) && path.startsWith(pattern.slice(0, -1));
}
