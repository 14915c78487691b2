/** admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding. */
import { isDeepStrictEqual } from 'node:util';
import {
  ADMISSION_GROUP,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
} from '../../../shared/kube/admission/admission-policy-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { type Kind, STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN } from '../table-column.js';
import { validateBinding, validatePolicy } from './admission-policy-validation.js';
import { setMatchDefaults } from './admission-rule-validation.js';

/** Upstream's text for a missing reference. */
const UNSET = '<unset>';

/** Counts a change of `spec`, in place. */
function countGeneration<T extends KubeObject & { spec?: unknown }>(next: T, current: T): void {
  const isChanged = !isDeepStrictEqual(next.spec, current.spec);
  next.metadata.generation = (current.metadata.generation ?? 0) + (isChanged ? 1 : 0);
}

/** Expressions are compiled by the write itself, so the status reflects the stored generation. */
function observe(policy: ValidatingAdmissionPolicy): void {
  policy.status = { observedGeneration: policy.metadata.generation ?? 1, typeChecking: {} };
}

export const validatingAdmissionPolicyKind: Kind<ValidatingAdmissionPolicy> = {
  group: ADMISSION_GROUP,
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  resource: 'validatingadmissionpolicies',
  singular: 'validatingadmissionpolicy',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy',
  subresources: {
    status: { group: ADMISSION_GROUP, version: 'v1', kind: 'ValidatingAdmissionPolicy', verbs: STATUS_VERBS },
  },
  columns: [
    NAME_COLUMN,
    column('Validations', 'integer', 'Number of validations.', ({ spec }) => spec?.validations?.length ?? 0),
    column('ParamKind', 'string', 'Kind of the parameters.', ({ spec }) =>
      spec?.paramKind ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}` : UNSET,
    ),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults: (policy) => {
    policy.spec ??= {};
    policy.spec.failurePolicy ??= 'Fail';
    setMatchDefaults(policy.spec.matchConstraints);
  },
  prepareForCreate: (policy) => {
    policy.metadata.generation = 1;
    observe(policy);
  },
  prepareForUpdate: (next, current) => {
    countGeneration(next, current);
    observe(next);
  },
  prepareForStatusUpdate: (next, current) => {
    const { status } = next;
    Object.assign(next, structuredClone(current));
    if (status) next.status = status;
  },
  validate: validatePolicy,
  validateUpdate: () => [],
  warnings: () => [],
};

export const validatingAdmissionPolicyBindingKind: Kind<ValidatingAdmissionPolicyBinding> = {
  group: ADMISSION_GROUP,
  version: 'v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  resource: 'validatingadmissionpolicybindings',
  singular: 'validatingadmissionpolicybinding',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('PolicyName', 'string', 'The policy that is bound.', ({ spec }) => spec?.policyName ?? ''),
    column('ParamRef', 'string', 'The parameters of the policy.', ({ spec }) => {
      const { name, namespace, selector } = spec?.paramRef ?? {};
      if (name) return namespace ? `${namespace}/${name}` : `*/${name}`;
      return selector ? `${namespace ?? '*'}/*` : UNSET;
    }),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults: (binding) => setMatchDefaults(binding.spec?.matchResources),
  prepareForCreate: ({ metadata }) => {
    metadata.generation = 1;
  },
  prepareForUpdate: countGeneration,
  validate: validateBinding,
  validateUpdate: () => [],
  warnings: () => [],
};
