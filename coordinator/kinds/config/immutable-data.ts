/** Rules that ConfigMaps and Secrets share (`pkg/apis/core/validation/validation.go`). */

import type { FieldError } from '../kind.js';
import { forbidden } from '../validation/field-error.js';
import { configMapKeyProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';

/** Upstream's MaxSecretSize: all values together, decoded. */
export const MAX_DATA_BYTES = 1024 * 1024;

const IMMUTABLE_SET = 'field is immutable when `immutable` is set';

/** Keys must be valid file names. */
export function validateDataKeys(data: Record<string, string> | undefined, field: string): FieldError[] {
  return Object.keys(data ?? {}).flatMap((key) =>
    invalidFor(`${field}[${key}]`, key, configMapKeyProblems(key)),
  );
}

/** If `immutable` is set, neither it nor the named fields may change. */
export function validateImmutable<T extends { immutable?: boolean }>(
  next: T,
  current: T,
  fields: readonly (keyof T & string)[],
): FieldError[] {
  if (!current.immutable) return [];
  const flag = next.immutable ? [] : [forbidden('immutable', IMMUTABLE_SET)];
  const changed = fields.filter((field) => !semanticallyEqual(next[field] ?? {}, current[field] ?? {}));
  return [...flag, ...changed.map((field) => forbidden(field, IMMUTABLE_SET))];
}
