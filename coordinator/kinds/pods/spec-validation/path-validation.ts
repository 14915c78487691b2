/** Paths in volumes and mounts. */

import type { FieldError } from '../../kind.js';
import { invalidValue } from '../../validation/field-error.js';

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
