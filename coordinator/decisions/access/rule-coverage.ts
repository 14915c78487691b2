/**
 * Decides whether a user with some rules may grant others. Otherwise users could grant rights that they do not have
 * (component-helpers auth/rbac/validation).
 */
import type { PolicyRule } from '../../../shared/kube/access/rbac-types.js';

const ALL = '*';

/** Returns the single verb, group and resource combinations of `wanted` that no rule of `held` covers. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const parts = wanted.flatMap(breakDown);
  return parts.filter((part) => !held.some((rule) => covers(rule, part)));
}

function breakDown(rule: PolicyRule): PolicyRule[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const onResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => {
        const part = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (resourceNames.length === 0) return [part];
        return resourceNames.map((name) => ({ ...part, resourceNames: [name] }));
      }),
    ),
  );
  const onPaths = nonResourceURLs.flatMap((path) =>
    verbs.map((verb) => ({ nonResourceURLs: [path], verbs: [verb] })),
  );
  return [...onResources, ...onPaths];
}

/** `part` is a single combination from `breakDown`. */
function covers(rule: PolicyRule, part: PolicyRule): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (!coversAll(verbs, part.verbs)) return false;
  if (part.nonResourceURLs) {
    return part.nonResourceURLs.every((path) => nonResourceURLs.some((owner) => coversPath(owner, path)));
  }
  return (
    coversAll(apiGroups, part.apiGroups) &&
    (part.resources ?? []).every((resource) => coversResource(resources, resource)) &&
    coversNames(resourceNames, part.resourceNames)
  );
}

function coversAll(owner: readonly string[], part: readonly string[] | undefined): boolean {
  return owner.includes(ALL) || (part ?? []).every((value) => owner.includes(value));
}

/** A rule for a subresource of all resources covers that subresource of one resource. */
function coversResource(owner: readonly string[], resource: string): boolean {
  if (owner.includes(ALL) || owner.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && owner.includes(`${ALL}${resource.slice(slash)}`);
}

/** A rule without names covers every name. A rule with names never covers a rule without. */
function coversNames(owner: readonly string[], part: readonly string[] | undefined): boolean {
  if (owner.length === 0) return true;
  return part !== undefined && part.length > 0 && part.every((name) => owner.includes(name));
}

function coversPath(owner: string, path: string): boolean {
  if (owner === ALL || owner === path) return true;
  return owner.endsWith(ALL) && path.startsWith(owner.slice(0, -1));
}

/** Formats a rule like upstream's refusals: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}` (`CompactString`). */
export function compactRule(rule: PolicyRule): string {
  const parts = (
    [
      ['APIGroups', rule.apiGroups],
      ['Resources', rule.resources],
      ['NonResourceURLs', rule.nonResourceURLs],
      ['ResourceNames', rule.resourceNames],
      ['Verbs', rule.verbs],
    ] as const
  ).flatMap(([name, values]) => (values?.length ? [`${name}:${goList(values)}`] : []));
  return `{${parts.join(', ')}}`;
}

export function goList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}

/** Merges rules that differ only in their verbs (`rbacregistryvalidation.CompactRules`). */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const byRest = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { verbs = [], ...rest } = rule;
    const key = JSON.stringify(rest);
    const present = byRest.get(key);
    byRest.set(key, { ...rest, verbs: [...(present?.verbs ?? []), ...verbs] });
  }
  return [...byRest.values()];
}
