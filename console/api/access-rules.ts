/** What the rules of a SelfSubjectRulesReview allow. */

/** Something that a person may want to do. "" or absent: the core group, no subresource, the cluster's scope. */
export interface AccessCheck {
  verb: string;
  group?: string;
  resource: string;
  subresource?: string;
  namespace?: string;
}

/** A rule as the review lists it. */
export interface ResourceRule {
  verbs: readonly string[];
  apiGroups: readonly string[];
  resources: readonly string[];
  /** Rules about single names are left out of account: what is offered is offered of all. */
  resourceNames?: readonly string[];
}

/** Whether one of the rules allows it, as RBAC reads them (`RuleAllows`). Pure. */
export function rulesAllow(rules: readonly ResourceRule[], wish: AccessCheck): boolean {
  const { verb, group = '', resource, subresource = '' } = wish;
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
