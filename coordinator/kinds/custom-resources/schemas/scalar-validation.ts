/** Text, number and enum rules of a schema (kube-openapi pkg/validation/validate/values.go). */
import { RE2JS } from 're2js';
import type { JsonSchema } from '../../../../shared/kube/objects/custom-resource-definition.js';
import type { FieldError } from '../../kind.js';
import { invalidValue, notSupported, tooLong } from '../../validation/field-error.js';
import { sameValue } from './json-values.js';
import { wrongType } from './type-validation.js';
import { hasFormat } from './value-formats.js';

/** Compiled patterns by their schema, so that a pattern is compiled once for each stored definition. */
const PATTERNS = new WeakMap<JsonSchema, RE2JS>();

/** RE2 matches in linear time. A JavaScript expression could block the coordinator for minutes. Throws for no pattern. */
function compiled(schema: JsonSchema, pattern: string): RE2JS {
  const known = PATTERNS.get(schema) ?? RE2JS.compile(pattern);
  PATTERNS.set(schema, known);
  return known;
}

/** Returns why the text is no pattern of RE2, or undefined. */
export function patternProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function checkText(text: string, schema: JsonSchema, path: string): FieldError[] {
  const { minLength, maxLength, pattern, format } = schema;
  const length = minLength === undefined && maxLength === undefined ? 0 : [...text].length;
  const errors: FieldError[] = [];
  if (maxLength !== undefined && length > maxLength) errors.push(tooLong(path, maxLength));
  if (minLength !== undefined && length < minLength) {
    errors.push(invalidValue(path, text, `${path} in body should be at least ${minLength} chars long`));
  }
  if (pattern && !compiled(schema, pattern).matcher(text).find()) {
    errors.push(invalidValue(path, text, `${path} in body should match '${pattern}'`));
  }
  if (format && !hasFormat(text, format)) errors.push(wrongType(path, format, text));
  return errors;
}

function checkNumber(value: number, schema: JsonSchema, path: string): FieldError[] {
  const { minimum, maximum, multipleOf } = schema;
  const broken = (detail: string) => invalidValue(path, value, `${path} in body should be ${detail}`);
  const errors: FieldError[] = [];
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
    errors.push(broken(`a multiple of ${multipleOf}`));
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    errors.push(broken(`${schema.exclusiveMaximum ? 'less than' : 'less than or equal to'} ${maximum}`));
  }
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    errors.push(
      broken(`${schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to'} ${minimum}`),
    );
  }
  return errors;
}

/** Returns the errors of a value that has the type of its schema. */
export function checkScalar(value: unknown, schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (typeof value === 'string') errors.push(...checkText(value, schema, path));
  if (typeof value === 'number') errors.push(...checkNumber(value, schema, path));
  if (schema.enum && !schema.enum.some((each) => sameValue(each, value))) {
    const values = schema.enum.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    errors.push(notSupported(path, value, values));
  }
  return errors;
}
