/** Validation, defaults and status of admission policies (pkg/apis/admissionregistration/validation_test.go). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  validatingAdmissionPolicyBindingKind,
  validatingAdmissionPolicyKind,
} from '../../../coordinator/kinds/index.js';
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../shared/kube/admission/admission-policy-types.js';
import { admissionPolicy, CONFIG_MAP_RULE, policyBinding } from '../../harness/objects/admission-builders.js';

type PolicySpec = NonNullable<ValidatingAdmissionPolicy['spec']>;
type BindingSpec = NonNullable<ValidatingAdmissionPolicyBinding['spec']>;

function policyErrors(spec: PolicySpec): string[] {
  const policy = admissionPolicy('p', spec) as ValidatingAdmissionPolicy;
  validatingAdmissionPolicyKind.setDefaults(policy);
  return validatingAdmissionPolicyKind.validate(policy).map(({ field, message }) => `${field}: ${message}`);
}

function bindingErrors(spec: BindingSpec): string[] {
  const binding = policyBinding('p', spec) as ValidatingAdmissionPolicyBinding;
  validatingAdmissionPolicyBindingKind.setDefaults(binding);
  return validatingAdmissionPolicyBindingKind
    .validate(binding)
    .map(({ field, message }) => `${field}: ${message}`);
}

function rules(change: object): PolicySpec {
  return { matchConstraints: { resourceRules: [{ ...CONFIG_MAP_RULE, ...change }] } };
}

const POLICIES: readonly [name: string, spec: PolicySpec, errors: RegExp[]][] = [
  ['a valid policy', {}, []],
  ['an unknown failure policy', { failurePolicy: 'x' }, [/^spec\.failurePolicy: Unsupported value: "x"/]],
  ['no rules', { matchConstraints: {} }, [/^spec\.matchConstraints\.resourceRules: Required value$/]],
  [
    'no validation',
    { validations: [] },
    [/^spec\.validations: Required value: validations or auditAnnotations must/, /^spec\.auditAnnotations: /],
  ],
  [
    'an expression that does not compile',
    { validations: [{ expression: 'object.x in [1, 2' }] },
    [/^spec\.validations\[0\]\.expression: Invalid value: .*: compilation failed: ERROR: <input>:1:/],
  ],
  [
    'an expression that is no bool',
    { validations: [{ expression: '1 + 1' }] },
    [/^spec\.validations\[0\]\.expression: Invalid value: "1 \+ 1": must evaluate to bool$/],
  ],
  [
    'params without a kind',
    { validations: [{ expression: 'params.x == 1' }] },
    [/undeclared reference to 'params'/],
  ],
  [
    'a message expression that uses the authorizer',
    {
      validations: [{ expression: 'true', messageExpression: "authorizer.path('/').check('get').reason()" }],
    },
    [/^spec\.validations\[0\]\.messageExpression: .*undeclared reference to 'authorizer'/],
  ],
  [
    'a message with line breaks and an unknown reason',
    { validations: [{ expression: 'true', message: 'a\nb', reason: 'other' }] },
    [
      /message: Invalid value: .*: message must not contain line breaks$/,
      /reason: Unsupported value: "other": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"$/,
    ],
  ],
  [
    'variables that use later ones',
    {
      variables: [
        { name: 'a', expression: 'variables.b' },
        { name: 'b', expression: '1' },
      ],
    },
    [/^spec\.variables\[0\]\.expression: .*undefined field 'b'/],
  ],
  [
    'a name that is no identifier',
    { variables: [{ name: 'a-b', expression: '1' }] },
    [/^spec\.variables\[0\]\.name: Invalid value: "a-b": name is not a valid CEL identifier$/],
  ],
  [
    'match conditions with one name twice',
    {
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: ' ' },
      ],
    },
    [
      /^spec\.matchConditions\[1\]\.expression: Required value$/,
      /^spec\.matchConditions\[1\]\.name: Duplicate/,
    ],
  ],
  [
    'an audit annotation that is a number',
    { auditAnnotations: [{ key: 'k', valueExpression: '1' }] },
    [/valueExpression: Invalid value: "1": must evaluate to one of: string or null$/],
  ],
  [
    'all operations and another one',
    rules({ operations: ['*', 'CREATE'] }),
    [/operations: Invalid value: .*: if '\*' is present, must not specify other operations$/],
  ],
  ['an unknown operation', rules({ operations: ['PATCH'] }), [/operations\[0\]: Unsupported value: "PATCH"/]],
  ['a rule without resources', rules({ resources: [] }), [/resourceRules\[0\]\.resources: Required value$/]],
  [
    'a subresource next to all of them',
    rules({ resources: ['pods/*', 'pods/status'] }),
    [
      /resources\[1\]: Invalid value: "pods\/status": if 'pods\/\*' is present, must not specify pods\/status$/,
    ],
  ],
  ['an unknown scope', rules({ scope: 'x' }), [/scope: Unsupported value: "x"/]],
  ['an empty kind of parameters', { paramKind: { apiVersion: 'v1' } }, [/^spec\.paramKind\.kind: Required/]],
];

for (const [name, spec, expected] of POLICIES) {
  test(`a policy with ${name} has ${expected.length} errors`, () => {
    const errors = policyErrors(spec);
    assert.equal(errors.length, expected.length, errors.join('\n'));
    for (const [at, error] of expected.entries()) assert.match(errors[at] ?? '', error);
  });
}

const BINDINGS: readonly [name: string, spec: BindingSpec, errors: RegExp[]][] = [
  ['valid fields', {}, []],
  ['no policy', { policyName: '' }, [/^spec\.policyName: Required value$/]],
  ['no action', { validationActions: [] }, [/at least one validation action is required$/]],
  ['Deny and Warn', { validationActions: ['Deny', 'Warn'] }, [/must not contain both Deny and Warn/]],
  ['an unknown action', { validationActions: ['x'] }, [/validationActions\[0\]: Unsupported value: "x"/]],
  [
    'parameters without a name',
    { paramRef: { parameterNotFoundAction: 'Deny' } },
    [/^spec\.paramRef: Required value: one of name or selector must be specified$/],
  ],
  [
    'parameters by name and selector',
    { paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Deny' } },
    [/name and selector are mutually exclusive$/, /name and selector are mutually exclusive$/],
  ],
  [
    'no action for missing parameters',
    { paramRef: { name: 'a' } },
    [/parameterNotFoundAction: Required value$/],
  ],
];

for (const [name, spec, expected] of BINDINGS) {
  test(`a binding with ${name} has ${expected.length} errors`, () => {
    const errors = bindingErrors(spec);
    assert.equal(errors.length, expected.length, errors.join('\n'));
    for (const [at, error] of expected.entries()) assert.match(errors[at] ?? '', error);
  });
}

test('a policy gets upstream defaults, and its status shows the generation', () => {
  const policy = admissionPolicy('p') as ValidatingAdmissionPolicy;
  validatingAdmissionPolicyKind.setDefaults(policy);
  validatingAdmissionPolicyKind.prepareForCreate(policy, { now: 0 });
  assert.deepEqual(policy.spec?.matchConstraints, {
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    resourceRules: [{ ...CONFIG_MAP_RULE, scope: '*' }],
  });
  assert.equal(policy.spec?.failurePolicy, 'Fail');
  const next = structuredClone(policy);
  next.spec = { ...next.spec, failurePolicy: 'Ignore' };
  validatingAdmissionPolicyKind.prepareForUpdate(next, policy, { now: 0 });
  assert.deepEqual(next.status, { observedGeneration: 2, typeChecking: {} });
});

test('columns show what is bound', () => {
  const cells = (binding: Partial<ValidatingAdmissionPolicyBinding>) =>
    validatingAdmissionPolicyBindingKind.columns
      .slice(1, 3)
      .map(({ cell }) => cell(binding as ValidatingAdmissionPolicyBinding, 0));
  assert.deepEqual(cells(policyBinding('p', { paramRef: { name: 'a' } })), ['p', '*/a']);
  assert.deepEqual(cells(policyBinding('p')), ['p', '<unset>']);
});
