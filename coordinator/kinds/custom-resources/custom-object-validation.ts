/** Validation of whole custom resources (apiextensions-apiserver pkg/registry/customresource). */
import type {
  CustomResourceVersion,
  JsonSchema,
  ScaleSubresource,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { FieldError } from '../kind.js';
import { invalidValue } from '../validation/field-error.js';
import { validateEmbeddedMetadata } from './schemas/embedded-metadata.js';
import { memberOf, valueAt } from './schemas/json-values.js';
import { validateListTypes } from './schemas/list-type-validation.js';
import { validateValue } from './schemas/schema-value-validation.js';

/** The compiled `x-kubernetes-validations` of a schema. */
export interface SchemaRules {
  /** True if the schema has no rules. */
  readonly isEmpty: boolean;
  /** Errors of the rules themselves, for the validation of the definition. */
  readonly errors: readonly FieldError[];
  /** Evaluates the rules on `value`. `old` is undefined for a create. */
  validate(value: unknown, old: unknown, path: string): FieldError[];
}

/** Compiles the rules of a structural schema. `path` is the field of the schema, for errors. */
export type CompileRules = (schema: JsonSchema, path: string) => SchemaRules;

/** What the validation of one version needs. */
export interface ValidatedVersion extends Pick<CustomResourceVersion, 'subresources'> {
  schema: JsonSchema;
  /** Compiled at the first use, because most definitions have many versions that are never written. */
  rules: () => SchemaRules | undefined;
}

const MAX_INT32 = 2 ** 31 - 1;

/** Rules are not evaluated on values of an unexpected form (`hasBlockingErr`). */
const BLOCKING: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

function replicasErrors(object: unknown, path: string): FieldError[] {
  const value = valueAt(object, path);
  if (value === undefined) return [];
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    const detail = `${path} accessor error: ${value} is of the type ${typeof value}, expected int64`;
    return [invalidValue(path, 0, detail)];
  }
  if (value < 0) return [invalidValue(path, value, 'should be a non-negative integer')];
  return value > MAX_INT32 ? [invalidValue(path, value, `should be less than or equal to ${MAX_INT32}`)] : [];
}

function scaleErrors(object: unknown, scale: ScaleSubresource | undefined, isStatus: boolean): FieldError[] {
  if (!scale) return [];
  return [
    ...(isStatus ? [] : replicasErrors(object, scale.specReplicasPath)),
    ...replicasErrors(object, scale.statusReplicasPath),
  ];
}

function withRules(
  errors: FieldError[],
  { rules }: ValidatedVersion,
  next: unknown,
  current: unknown,
): FieldError[] {
  const compiled = rules();
  if (!compiled || compiled.isEmpty) return errors;
  if (errors.some(({ reason = '' }) => BLOCKING.has(reason))) {
    const detail =
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
    return [...errors, invalidValue('<nil>', undefined, detail)];
  }
  return [...errors, ...compiled.validate(next, current, '')];
}

/** A list that was invalid before may stay invalid. */
function listTypeErrors(next: unknown, current: unknown, schema: JsonSchema | undefined, path: string) {
  const wasInvalid = current !== undefined && validateListTypes(current, schema, path).length > 0;
  return wasInvalid ? [] : validateListTypes(next, schema, path);
}

/** Returns the errors of an object. `current` is the stored object of an update. */
export function validateCustomObject(
  version: ValidatedVersion,
  next: KubeObject,
  current: KubeObject | undefined,
): FieldError[] {
  const { schema, subresources } = version;
  const errors = [
    ...validateValue(next, schema, '', current && { value: current }),
    ...scaleErrors(next, subresources?.scale, false),
    ...validateEmbeddedMetadata(next, schema),
    ...listTypeErrors(next, current, schema, ''),
  ];
  return withRules(errors, version, next, current);
}

/** Returns the errors of a write to `/status`. */
export function validateCustomStatus(
  version: ValidatedVersion,
  next: KubeObject,
  current: KubeObject,
): FieldError[] {
  const schema = memberOf(version.schema.properties, 'status');
  const [status, before] = [next, current].map((object) => valueAt(object, '.status'));
  const errors = [
    ...(schema && status !== undefined
      ? validateValue(status, schema, 'status', before === undefined ? undefined : { value: before })
      : []),
    ...scaleErrors(next, version.subresources?.scale, true),
    ...listTypeErrors(status, before, schema, 'status'),
  ];
  return withRules(errors, version, next, current);
}
