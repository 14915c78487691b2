/** Field errors with upstream's messages (k8s.io/apimachinery pkg/util/validation/field/errors.go). */
import type { FieldError } from '../kind.js';

/** Returns a value as error messages show it: text in quotes, other values as JSON. */
function shown(value: unknown): string {
  return value === undefined ? 'null' : JSON.stringify(value);
}

function fieldError(reason: string, field: string, text: string, detail: string): FieldError {
  return { reason, field, message: detail === '' ? text : `${text}: ${detail}` };
}

/** `Required value[: detail]` */
export function required(field: string, detail = ''): FieldError {
  return fieldError('FieldValueRequired', field, 'Required value', detail);
}

/** `Invalid value: VALUE: detail` */
export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return fieldError('FieldValueInvalid', field, `Invalid value: ${shown(value)}`, detail);
}

/** `Unsupported value: "x": supported values: "A", "B"` */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((text) => JSON.stringify(text)).join(', ');
  const detail = supported.length > 0 ? `supported values: ${list}` : '';
  return fieldError('FieldValueNotSupported', field, `Unsupported value: ${shown(value)}`, detail);
}

/** `Forbidden: detail` */
export function forbidden(field: string, detail: string): FieldError {
  return fieldError('FieldValueForbidden', field, 'Forbidden', detail);
}

/** `Duplicate value: VALUE[: detail]` */
export function duplicate(field: string, value: unknown, detail = ''): FieldError {
  return fieldError('FieldValueDuplicate', field, `Duplicate value: ${shown(value)}`, detail);
}

/** `Not found: VALUE` */
export function missing(field: string, value: unknown): FieldError {
  return fieldError('FieldValueNotFound', field, `Not found: ${shown(value)}`, '');
}

/** `Too long: may not be more than N bytes` */
export function tooLong(field: string, maxBytes: number): FieldError {
  return fieldError('FieldValueTooLong', field, 'Too long', `may not be more than ${maxBytes} bytes`);
}

/** `Too many: N: must have at most MAX items` */
export function tooMany(field: string, count: number, max: number): FieldError {
  const detail = `must have at most ${max} item${max === 1 ? '' : 's'}`;
  return fieldError('FieldValueTooMany', field, `Too many: ${count}`, detail);
}

/** Upstream's message for an immutable field. */
export const FIELD_IMMUTABLE = 'field is immutable';
