/** Validation of CustomResourceDefinitions (apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go). */
import {
  type CustomResourceDefinition,
  type CustomResourceVersion,
  isEstablished,
  type JsonSchema,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import type { FieldError } from '../kind.js';
import {
  duplicate,
  FIELD_IMMUTABLE,
  forbidden,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../validation/field-error.js';
import { dnsSubdomainProblems } from '../validation/name-rules.js';
import type { CompileRules } from './custom-object-validation.js';
import {
  dns1035Problem,
  validateColumn,
  validateNames,
  validateSubresources,
} from './definition-names-validation.js';
import { memberOf } from './schemas/json-values.js';
import { validateDefaults, validateOpenApiSchema } from './schemas/openapi-schema-validation.js';
import { validateStructural } from './schemas/structural-validation.js';

const MAX_SELECTABLE_FIELDS = 8;
const SCOPES = ['Cluster', 'Namespaced'];
const APPROVAL = 'api-approved.kubernetes.io';

type Spec = CustomResourceDefinition['spec'];

function groupErrors({ group }: Spec): FieldError[] {
  if (!group) return [required('spec.group')];
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0) return [invalidValue('spec.group', group, problems.join(','))];
  return group.includes('.')
    ? []
    : [invalidValue('spec.group', group, 'should be a domain with at least one dot')];
}

function deprecationErrors(
  { deprecated, deprecationWarning }: CustomResourceVersion,
  path: string,
): FieldError[] {
  if (deprecationWarning === undefined) return [];
  const at = `${path}.deprecationWarning`;
  const problems = [
    ...(deprecated ? [] : ['can only be set for deprecated versions']),
    ...(deprecated && deprecationWarning.length > 256 ? ['must be <= 256 characters long'] : []),
    ...(deprecated && deprecationWarning === '' ? ['must not be an empty string'] : []),
  ];
  const control = [...deprecationWarning].findIndex((character) => /\p{C}/u.test(character));
  if (deprecated && control >= 0) {
    problems.push(
      `must only contain printable UTF-8 characters; non-printable character found at index ${control}`,
    );
  }
  return problems.map((problem) => invalidValue(at, deprecationWarning, problem));
}

function fieldAt(schema: JsonSchema, jsonPath: string): JsonSchema | undefined {
  return jsonPath
    .split('.')
    .slice(1)
    .reduce<JsonSchema | undefined>((parent, name) => memberOf(parent?.properties, name), schema);
}

function selectableErrors(
  { selectableFields = [], schema }: CustomResourceVersion,
  path: string,
): FieldError[] {
  const root = schema?.openAPIV3Schema;
  if (selectableFields.length > 0 && !root) {
    const detail = 'may only be set when `version.schema.openAPIV3Schema` is not included';
    return [invalidValue(path, '', detail)];
  }
  const errors = selectableFields.flatMap(({ jsonPath }, index) => {
    const at = `${path}[${index}].jsonPath`;
    if (!jsonPath) return [required(at)];
    const type = root && fieldAt(root, jsonPath)?.type;
    if (type === undefined) {
      const name = jsonPath.split('.').find((each) => each !== '') ?? '';
      return [invalidValue(at, jsonPath, `is an invalid path: does not refer to a valid field: ${name}`)];
    }
    const own: FieldError[] = [];
    if (jsonPath.startsWith('.metadata')) {
      own.push(invalidValue(at, jsonPath, 'must not point to fields in metadata'));
    }
    if (!['string', 'boolean', 'integer'].includes(type)) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      own.push(invalidValue(at, jsonPath, detail));
    }
    const isFirst = selectableFields.findIndex((field) => field.jsonPath === jsonPath) === index;
    return isFirst ? own : [...own, duplicate(at, jsonPath)];
  });
  const count = new Set(selectableFields.map(({ jsonPath }) => jsonPath)).size;
  return count > MAX_SELECTABLE_FIELDS ? [...errors, tooMany(path, count, MAX_SELECTABLE_FIELDS)] : errors;
}

function schemaErrors(
  schema: JsonSchema,
  path: string,
  compileRules: CompileRules | undefined,
): FieldError[] {
  const structural = validateStructural(schema, path);
  const defaults = structural.length > 0 ? [] : validateDefaults(schema, path);
  const errors = [
    ...(schema.nullable ? [forbidden(`${path}.nullable`, 'nullable cannot be true at the root')] : []),
    ...structural,
    ...defaults,
    ...validateOpenApiSchema(schema, path),
  ];
  if (errors.length > 0) return errors;
  return [...(compileRules?.(schema, path).errors ?? [])];
}

function versionErrors(
  version: CustomResourceVersion,
  path: string,
  compileRules: CompileRules | undefined,
): FieldError[] {
  const { name, schema, subresources, additionalPrinterColumns = [] } = version;
  const problem = dns1035Problem(name ?? '');
  const root = schema?.openAPIV3Schema;
  return [
    ...(root ? [] : [required(`${path}.schema.openAPIV3Schema`)]),
    ...(problem === '' ? [] : [invalidValue(`${path}.name`, name, problem)]),
    ...deprecationErrors(version, path),
    ...(root ? schemaErrors(root, `${path}.schema.openAPIV3Schema`, compileRules) : []),
    ...validateSubresources(subresources, `${path}.subresources`),
    ...additionalPrinterColumns.flatMap((column, index) =>
      validateColumn(column, `${path}.additionalPrinterColumns[${index}]`),
    ),
    ...selectableErrors(version, `${path}.selectableFields`),
  ];
}

function nameErrors({ names }: Spec): FieldError[] {
  const wanted = ['plural', 'singular', 'kind', 'listKind'] as const;
  return [
    ...wanted.filter((name) => !names[name]).map((name) => required(`spec.names.${name}`)),
    ...validateNames(names, 'spec.names'),
  ];
}

function conversionErrors({ conversion }: Spec): FieldError[] {
  if (!conversion) return [];
  const at = 'spec.conversion';
  const { strategy, webhook } = conversion;
  if (!strategy) return [required(`${at}.strategy`)];
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [notSupported(`${at}.strategy`, strategy, ['None', 'Webhook'])];
  }
  if (strategy === 'None') {
    const detail = 'should not be set when strategy is not set to Webhook';
    return webhook ? [forbidden(`${at}.webhookClientConfig`, detail)] : [];
  }
  const { clientConfig, conversionReviewVersions = [] } = webhook ?? {};
  const errors: FieldError[] = [];
  if (!clientConfig) {
    errors.push(required(`${at}.webhookClientConfig`, 'required when strategy is set to Webhook'));
  } else if ((clientConfig.url === undefined) === (clientConfig.service === undefined)) {
    errors.push(required(`${at}.webhookClientConfig`, 'exactly one of url or service is required'));
  }
  if (conversionReviewVersions.length === 0) errors.push(required(`${at}.conversionReviewVersions`));
  else if (!conversionReviewVersions.some((version) => version === 'v1' || version === 'v1beta1')) {
    const detail = 'must include at least one of v1, v1beta1';
    errors.push(invalidValue(`${at}.conversionReviewVersions`, conversionReviewVersions, detail));
  }
  return errors;
}

function storedVersionErrors({ spec, status }: CustomResourceDefinition): FieldError[] {
  const at = 'status.storedVersions';
  const stored = status?.storedVersions ?? [];
  if (stored.length === 0) return [invalidValue(at, stored, 'must have at least one stored version')];
  const storage = spec.versions.find((version) => version.storage)?.name;
  const lost = stored.flatMap((name, index) => {
    if (spec.versions.some((version) => version.name === name)) return [];
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    return [invalidValue(`${at}[${index}]`, name, detail)];
  });
  if (storage === undefined || stored.includes(storage)) return lost;
  return [invalidValue(at, stored, `must have the storage version ${storage}`), ...lost];
}

/** Groups of the Kubernetes community need an approval (apiextensions-apiserver pkg/apihelpers). */
function approvalErrors({ spec, metadata }: CustomResourceDefinition): FieldError[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group ?? '')) return [];
  const value = metadata.annotations?.[APPROVAL];
  const at = `metadata.annotations[${APPROVAL}]`;
  if (!value) {
    return [
      required(
        at,
        `protected groups must have approval annotation "${APPROVAL}", see https://github.com/kubernetes/enhancements/pull/1111`,
      ),
    ];
  }
  if (value.startsWith('unapproved') || URL.canParse(value)) return [];
  const detail = `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`;
  return [invalidValue(at, value, detail)];
}

/** Returns the errors of a definition. */
export function validateDefinition(
  definition: CustomResourceDefinition,
  compileRules?: CompileRules,
): FieldError[] {
  const { spec, status, metadata } = definition;
  const { versions, scope, preserveUnknownFields } = spec;
  const names = versions.map(({ name }) => name);
  const storage = versions.filter((version) => version.storage).length;
  const wanted = `${spec.names.plural}.${spec.group}`;
  const at = 'spec.versions';
  return [
    ...(metadata.name && metadata.name !== wanted
      ? [invalidValue('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group')]
      : []),
    ...groupErrors(spec),
    ...(scope ? [] : [required('spec.scope')]),
    ...(scope && !SCOPES.includes(scope) ? [notSupported('spec.scope', scope, SCOPES)] : []),
    ...versions.flatMap((version, index) => versionErrors(version, `${at}[${index}]`, compileRules)),
    ...(new Set(names).size < names.length
      ? [invalidValue(at, versions, 'must contain unique version names')]
      : []),
    ...(storage === 1
      ? []
      : [invalidValue(at, versions, 'must have exactly one version marked as storage version')]),
    ...nameErrors(spec),
    ...conversionErrors(spec),
    ...validateNames(status?.acceptedNames ?? {}, 'status.acceptedNames'),
    ...storedVersionErrors(definition),
    ...(preserveUnknownFields
      ? [
          invalidValue(
            'spec.preserveUnknownFields',
            true,
            'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
          ),
        ]
      : []),
  ];
}

/** Returns the additional errors of a new definition. */
export function validateNewDefinition(definition: CustomResourceDefinition): FieldError[] {
  return approvalErrors(definition);
}

/** The identity of stored objects cannot change. */
export function validateDefinitionUpdate(
  { spec: next }: CustomResourceDefinition,
  current: CustomResourceDefinition,
): FieldError[] {
  const { spec } = current;
  const immutable = (field: string, value: string, before: string) =>
    value === before ? [] : [invalidValue(`spec.${field}`, value, FIELD_IMMUTABLE)];
  return [
    ...(isEstablished(current)
      ? [
          ...immutable('scope', next.scope, spec.scope),
          ...immutable('names.kind', next.names.kind, spec.names.kind),
        ]
      : []),
    ...immutable('group', next.group, spec.group),
    ...immutable('names.plural', next.names.plural, spec.names.plural),
  ];
}
