/** Evaluates the rules of a SelfSubjectRulesReview. */

/** An action to check. Absent or empty fields mean: the core group, no subresource, cluster scope. */
export interface AccessCheck {
  verb: string;
  group?: string;
  resource: string;
  subresource?: string;
  namespace?: string;
}

/** A rule in the format of the review. */
export interface ResourceRule {
  verbs: readonly string[];
  apiGroups: readonly string[];
  resources: readonly string[];
  /** Rules for single objects are ignored: the console offers an action for all objects or for none. */
  resourceNames?: readonly string[];
}

/** Returns true if one of the rules allows the action, like RBAC's `RuleAllows`. Pure. */
export function rulesAllow(rules: readonly ResourceRule[], check: AccessCheck): boolean {
  const { verb, group = '', resource, subresource = '' } = check;
  const whole = subresource ? `${resource}/${subresource}` : resource;
  const names = (list: readonly string[], name: string) => list.includes('*') || list.includes(name);
  return rules.some(
    ({ verbs, apiGroups, resources, resourceNames = [] }) =>
      resourceNames.length === 0 &&
      names(verbs, verb) &&
      names(apiGroups, group) &&
      (names(resources, whole) || (subresource !== '' && resources.includes(`*/${subresource}`))),
  );
}
