/** Admission policies, bindings and webhooks for tests. */
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../shared/kube/admission/admission-policy-types.js';

type PolicySpec = NonNullable<ValidatingAdmissionPolicy['spec']>;
type BindingSpec = NonNullable<ValidatingAdmissionPolicyBinding['spec']>;

export const CONFIG_MAP_RULE = {
  operations: ['CREATE', 'UPDATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
};

/** Returns a policy for ConfigMaps with one validation, if `spec` names no other. */
export function admissionPolicy(name: string, spec: PolicySpec = {}): Partial<ValidatingAdmissionPolicy> {
  return {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [CONFIG_MAP_RULE] },
      validations: [{ expression: "object.data.size == 'small'" }],
      ...spec,
    },
  };
}

export function policyBinding(
  policyName: string,
  spec: BindingSpec = {},
  name = `${policyName}-binding`,
): Partial<ValidatingAdmissionPolicyBinding> {
  return { metadata: { name }, spec: { policyName, validationActions: ['Deny'], ...spec } };
}
