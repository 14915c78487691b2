/** Ranges of numbers, in upstream's words. */

import type { FieldError } from '../../kind.js';
import { invalidValue } from '../../validation/field-error.js';

/** What upstream says of a negative number. */
export const NOT_NEGATIVE = 'must be greater than or equal to 0';
const MAX_INT32 = 2_147_483_647;
/** 0777, the highest file mode. */
const MAX_MODE = 0o777;

/** An absent number is fine. */
export function validateNonNegative(value: number | undefined, field: string): FieldError[] {
  return value !== undefined && value < 0 ? [invalidValue(field, value, NOT_NEGATIVE)] : [];
}

/** Both ends belong to the range; an absent number is fine. */
function validateRange(value: number | undefined, min: number, max: number, field: string): FieldError[] {
  if (value === undefined || (value >= min && value <= max)) return [];
  return [invalidValue(field, value, `must be between ${min} and ${max}, inclusive`)];
}

/** Numeric user and group ids. */
export function validateId(value: number | undefined, field: string): FieldError[] {
  return validateRange(value, 0, MAX_INT32, field);
}

/** Deadlines in seconds. */
export function validatePositiveInt32(value: number | undefined, field: string): FieldError[] {
  return validateRange(value, 1, MAX_INT32, field);
}

/** File modes, in the decimal form that JSON carries. */
export function validateFileMode(mode: number | undefined, field: string): FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= MAX_MODE)) return [];
  return [invalidValue(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}

/** No element of the path may be `..`. */
export function validateNoBacksteps(path: string, field: string): FieldError[] {
  return path.split('/').includes('..') ? [invalidValue(field, path, "must not contain '..'")] : [];
}

/** A path inside something: relative, without `..`. */
export function validateDescendingPath(path: string, field: string): FieldError[] {
  const absolute = path.startsWith('/') ? [invalidValue(field, path, 'must be a relative path')] : [];
  return [...absolute, ...validateNoBacksteps(path, field)];
}

/** The same, and not in the names that begin with `..`, which the engine of volumes keeps for itself. */
export function validateUnreservedPath(path: string, field: string): FieldError[] {
  const errors = validateDescendingPath(path, field);
  const reserved = path.startsWith('..') && !path.startsWith('../');
  return reserved ? [...errors, invalidValue(field, path, "must not start with '..'")] : errors;
}
