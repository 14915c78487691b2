/** Validation of admission policies and their bindings (pkg/apis/admissionregistration/validation/validation.go). */
import type {
  ParamRef,
  PolicyValidation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../shared/kube/admission/admission-policy-types.js';
import {
  type CompiledPolicy,
  compilePolicy,
  type PolicyExpression,
} from '../../cel/policies/compile-policy.js';
import type { FieldError } from '../kind.js';
import { duplicate, forbidden, invalidValue, notSupported, required } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import {
  dnsSubdomainProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
} from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';
import {
  FAILURE_POLICIES,
  validateMatchConditions,
  validateMatchResources,
} from './admission-rule-validation.js';

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];
const ACTIONS = ['Audit', 'Deny', 'Warn'];
const MAX_ANNOTATIONS = 20;
const MAX_ANNOTATION_BYTES = 5 * 1024;

export function validatePolicy(policy: ValidatingAdmissionPolicy): FieldError[] {
  const { spec = {} } = policy;
  const { failurePolicy, paramKind, matchConstraints, validations = [], auditAnnotations = [] } = spec;
  const compiled = compilePolicy(policy);
  const scope = { hasParams: paramKind !== undefined, hasAuthorizer: true };
  const isEmpty = validations.length + auditAnnotations.length === 0;
  const nothing = 'validations or auditAnnotations must contain at least one item';
  return [
    ...(failurePolicy !== undefined && !FAILURE_POLICIES.includes(failurePolicy)
      ? [notSupported('spec.failurePolicy', failurePolicy, FAILURE_POLICIES)]
      : []),
    ...(paramKind ? validateParamKind(paramKind) : []),
    ...(matchConstraints
      ? validateMatchResources(matchConstraints, 'spec.matchConstraints')
      : [required('spec.matchConstraints')]),
    ...(matchConstraints && !matchConstraints.resourceRules?.length
      ? [required('spec.matchConstraints.resourceRules')]
      : []),
    ...validateMatchConditions(spec.matchConditions ?? [], scope, 'spec.matchConditions'),
    ...validateVariables(policy, compiled),
    ...(isEmpty ? [required('spec.validations', nothing), required('spec.auditAnnotations', nothing)] : []),
    ...validations.flatMap((validation, at) => validateValidation(validation, compiled, at)),
    ...validateAnnotations(policy, compiled),
  ];
}

function validateParamKind({
  apiVersion = '',
  kind = '',
}: {
  apiVersion?: string;
  kind?: string;
}): FieldError[] {
  const parts = apiVersion.split('/');
  const version = parts.at(-1) ?? '';
  const malformed = parts.length > 2 || !/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(version);
  return [
    ...(apiVersion === ''
      ? [required('spec.paramKind.apiVersion')]
      : malformed
        ? [
            invalidValue(
              'spec.paramKind.apiVersion',
              apiVersion,
              `unexpected GroupVersion string: ${apiVersion}`,
            ),
          ]
        : []),
    ...(kind === '' ? [required('spec.paramKind.kind')] : []),
  ];
}

/** Returns the compile error of an expression, or [] if it compiles. */
function compileError(expression: PolicyExpression | undefined, field: string): FieldError[] {
  if (!expression || !('compileError' in expression)) return [];
  return [invalidValue(field, expression.source, expression.compileError)];
}

function validateVariables({ spec }: ValidatingAdmissionPolicy, compiled: CompiledPolicy): FieldError[] {
  return (spec?.variables ?? []).flatMap(({ name = '', expression = '' }, at) => {
    const field = `spec.variables[${at}]`;
    const nameErrors = /^[A-Za-z_]\w*$/.test(name)
      ? []
      : [invalidValue(`${field}.name`, name, 'name is not a valid CEL identifier')];
    return [
      ...(name.trim() === '' ? [required(`${field}.name`, 'name is not specified')] : nameErrors),
      ...(expression.trim() === ''
        ? [required(`${field}.expression`, 'expression is not specified')]
        : compileError(compiled.variables[at]?.expression, `${field}.expression`)),
    ];
  });
}

function validateValidation(
  validation: PolicyValidation,
  compiled: CompiledPolicy,
  at: number,
): FieldError[] {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  const field = `spec.validations[${at}]`;
  const program = compiled.validations[at];
  const blankMessage = messageExpression !== '' && messageExpression.trim() === '';
  return [
    ...(expression.trim() === ''
      ? [required(`${field}.expression`, 'expression is not specified')]
      : compileError(program?.expression, `${field}.expression`)),
    ...(blankMessage
      ? [invalidValue(`${field}.messageExpression`, messageExpression, 'must be non-empty if specified')]
      : compileError(program?.message, `${field}.messageExpression`)),
    ...(message !== '' && message.trim() === ''
      ? [invalidValue(`${field}.message`, message, 'message must be non-empty if specified')]
      : []),
    ...(/[\n\r]/.test(message.trim())
      ? [invalidValue(`${field}.message`, message, 'message must not contain line breaks')]
      : []),
    ...(reason !== undefined && !REASONS.includes(reason)
      ? [notSupported(`${field}.reason`, reason, REASONS)]
      : []),
  ];
}

function validateAnnotations(policy: ValidatingAdmissionPolicy, compiled: CompiledPolicy): FieldError[] {
  const list = policy.spec?.auditAnnotations ?? [];
  const field = 'spec.auditAnnotations';
  const tooMuch = `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`;
  const keys = list.map(({ key }) => key);
  return [
    ...(list.length > MAX_ANNOTATIONS ? [invalidValue(field, list, tooMuch)] : []),
    ...list.flatMap(({ key = '', valueExpression = '' }, at) => {
      const full = `${policy.metadata.name}/${key}`;
      const tooLong = `must not exceed ${MAX_ANNOTATION_BYTES} bytes in length`;
      const valueField = `${field}[${at}].valueExpression`;
      const length = Buffer.byteLength(valueExpression.trim());
      return [
        ...invalidFor(`${field}[${at}].key`, full, qualifiedNameProblems(full)),
        ...(length === 0 ? [required(valueField, 'valueExpression is not specified')] : []),
        ...(length > MAX_ANNOTATION_BYTES ? [required(valueField, tooLong)] : []),
        ...(length > 0 ? compileError(compiled.annotations[at]?.expression, valueField) : []),
        ...(keys.indexOf(key) < at ? [duplicate(`${field}[${at}].key`, key)] : []),
      ];
    }),
  ];
}

export function validateBinding({ spec = {} }: ValidatingAdmissionPolicyBinding): FieldError[] {
  const { policyName = '', paramRef, matchResources, validationActions = [] } = spec;
  return [
    ...(policyName === ''
      ? [required('spec.policyName')]
      : invalidFor('spec.policyName', policyName, dnsSubdomainProblems(policyName))),
    ...(paramRef ? validateParamRef(paramRef) : []),
    ...validateMatchResources(matchResources, 'spec.matchResources'),
    ...validateActions(validationActions),
  ];
}

function validateActions(actions: readonly string[]): FieldError[] {
  const field = 'spec.validationActions';
  const both =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
  return [
    ...actions.flatMap((action, at) => [
      ...(ACTIONS.includes(action) ? [] : [notSupported(`${field}[${at}]`, action, ACTIONS)]),
      ...(actions.indexOf(action) < at ? [duplicate(`${field}[${at}]`, action)] : []),
    ]),
    ...(actions.includes('Deny') && actions.includes('Warn') ? [invalidValue(field, actions, both)] : []),
    ...(actions.length === 0 ? [required(field, 'at least one validation action is required')] : []),
  ];
}

function validateParamRef({
  name = '',
  selector,
  parameterNotFoundAction: action = '',
}: ParamRef): FieldError[] {
  const field = 'spec.paramRef';
  const exclusive = 'name and selector are mutually exclusive';
  const isBoth = name !== '' && selector !== undefined;
  return [
    ...(name === '' ? [] : invalidFor(`${field}.name`, name, pathSegmentProblems(name))),
    ...(isBoth ? [forbidden(`${field}.name`, exclusive), forbidden(`${field}.selector`, exclusive)] : []),
    ...validateLabelSelector(selector, `${field}.selector`),
    ...(name === '' && !selector ? [required(field, 'one of name or selector must be specified')] : []),
    ...(action === '' ? [required(`${field}.parameterNotFoundAction`)] : []),
    ...(action !== '' && !['Deny', 'Allow'].includes(action)
      ? [notSupported(`${field}.parameterNotFoundAction`, action, ['Deny', 'Allow'])]
      : []),
  ];
}
