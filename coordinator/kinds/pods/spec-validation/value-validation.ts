/** Validation of numbers and paths, with upstream's messages. */

import type { FieldError } from '../../kind.js';
import { invalidValue } from '../../validation/field-error.js';

/** Upstream's message for a negative number. */
export const NOT_NEGATIVE = 'must be greater than or equal to 0';
const MAX_INT32 = 2_147_483_647;
/** 0777, the highest file mode. */
const MAX_MODE = 0o777;

/** An absent number is valid. */
export function validateNonNegative(value: number | undefined, field: string): FieldError[] {
  return value !== undefined && value < 0 ? [invalidValue(field, value, NOT_NEGATIVE)] : [];
}

/** Validates the upper end of a delay in seconds: a later time may be one that no date can express. */
export function validateAtMostInt32(value: number | undefined, field: string): FieldError[] {
  if (value === undefined || value <= MAX_INT32) return [];
  return [invalidValue(field, value, `must be less than or equal to ${MAX_INT32}`)];
}

/** Both ends are in the range. An absent number is valid. */
function validateRange(value: number | undefined, min: number, max: number, field: string): FieldError[] {
  if (value === undefined || (value >= min && value <= max)) return [];
  return [invalidValue(field, value, `must be between ${min} and ${max}, inclusive`)];
}

/** Validates a numeric user or group id. */
export function validateId(value: number | undefined, field: string): FieldError[] {
  return validateRange(value, 0, MAX_INT32, field);
}

/** Validates a deadline in seconds. */
export function validatePositiveInt32(value: number | undefined, field: string): FieldError[] {
  return validateRange(value, 1, MAX_INT32, field);
}

/** Validates a file mode, which JSON contains as a decimal number. */
export function validateFileMode(mode: number | undefined, field: string): FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= MAX_MODE)) return [];
  return [invalidValue(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}

/** The path must not contain `..`. */
export function validateNoBacksteps(path: string, field: string): FieldError[] {
  return path.split('/').includes('..') ? [invalidValue(field, path, "must not contain '..'")] : [];
}

/** The path must be relative and must not contain `..`. */
export function validateDescendingPath(path: string, field: string): FieldError[] {
  const absolute = path.startsWith('/') ? [invalidValue(field, path, 'must be a relative path')] : [];
  return [...absolute, ...validateNoBacksteps(path, field)];
}

/**
 * Like `validateDescendingPath`. The path must also not begin with `..`, which the kubelet reserves for its own files.
 */
export function validateUnreservedPath(path: string, field: string): FieldError[] {
  const errors = validateDescendingPath(path, field);
  const reserved = path.startsWith('..') && !path.startsWith('../');
  return reserved ? [...errors, invalidValue(field, path, "must not start with '..'")] : errors;
}
