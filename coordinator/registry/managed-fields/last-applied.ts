/**
 * The annotation of kubectl's client-side apply. kubectl's server-side apply takes over its fields
 * (`managedfields/internal/lastapplied*.go`).
 */
import type { Kind } from '../../kinds/kind.js';
import { schemaOf } from '../../kinds/schema/schema-definitions.js';
import { copyJson, isJsonMap, type JsonMap } from '../encoding/json-value.js';
import type { ApplyConflict } from './apply-fields.js';
import { difference, EMPTY_SET, type FieldSet, isEmptySet } from './field-set.js';
import { fieldSetOf } from './object-field-set.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** The only manager that may take over fields from a client-side apply. */
const KUBECTL = 'kubectl';
/** Limit for all annotations together. */
const MAX_BYTES = 256 * 1024;

function annotationsOf(object: JsonMap): JsonMap | undefined {
  const { metadata } = object;
  return isJsonMap(metadata) && isJsonMap(metadata.annotations) ? metadata.annotations : undefined;
}

function lastAppliedFields(kind: Kind, live: JsonMap): FieldSet {
  const text = annotationsOf(live)?.[LAST_APPLIED];
  if (typeof text !== 'string') return EMPTY_SET;
  try {
    return fieldSetOf(JSON.parse(text), schemaOf(kind));
  } catch (error) {
    // A user wrote this annotation. If it is not JSON, it grants no fields.
    if (error instanceof SyntaxError) return EMPTY_SET;
    throw error;
  }
}

/** Returns the conflicts that remain after kubectl takes over the fields of its client-side apply. */
export function withoutOwnLegacy(
  kind: Kind,
  live: JsonMap,
  conflicts: readonly ApplyConflict[],
  manager: string,
): ApplyConflict[] {
  if (manager !== KUBECTL || conflicts.length === 0) return [...conflicts];
  const own = lastAppliedFields(kind, live);
  return conflicts
    .map(({ owner, fields }) => ({ owner, fields: difference(fields, own) }))
    .filter(({ fields }) => !isEmptySet(fields));
}

/**
 * Updates the annotation if it exists, in place. Client-side and server-side apply can then alternate on one object.
 */
export function refreshLastApplied(object: JsonMap, manifest: JsonMap, manager: string): void {
  const annotations = annotationsOf(object);
  if (manager !== KUBECTL || annotations?.[LAST_APPLIED] === undefined) return;
  const applied = copyJson(manifest);
  delete annotationsOf(applied)?.[LAST_APPLIED];
  const text = `${JSON.stringify(applied)}\n`;
  annotations[LAST_APPLIED] = Buffer.byteLength(text) > MAX_BYTES ? '' : text;
}
