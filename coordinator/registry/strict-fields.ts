/** Field validation: wrong JSON types and unknown fields, by the generated schema. */

import { ApiError } from '../../shared/kube/status.js';
import type { Kind } from '../kinds/kind.js';
import { checkFields } from '../kinds/schema/check-fields.js';
import { dropUnknownFields } from '../kinds/schema/drop-unknown-fields.js';
import type { JsonMap } from './json-value.js';
import type { WriteOptions } from './registry.js';
import { undecodableText } from './request-body.js';

/** A 400 in the words of upstream's decoder; `problem` is what it would say of the fields alone. */
export class DecodingError extends ApiError {
  constructor(
    kind: Kind,
    readonly problem: string,
  ) {
    super('BadRequest', undecodableText(kind, kind.kind, problem));
  }
}

/**
 * Leaves in `object` what upstream's decoder would. A value of the wrong type is a 400 in every mode; an
 * unknown field is a 400 with Strict, a warning with Warn, and dropped in silence with Ignore.
 */
export function decodeStrictly(
  kind: Kind,
  object: JsonMap,
  mode: NonNullable<WriteOptions['fieldValidation']>,
  warn: WriteOptions['warn'],
): void {
  const { unknownFields, typeErrors } = checkFields(kind.schema, object);
  const [typeError] = typeErrors;
  if (typeError !== undefined) throw new DecodingError(kind, typeError);
  const texts = unknownFields.map((path) => `unknown field "${path}"`);
  if (mode === 'Strict' && texts.length > 0) {
    throw new DecodingError(kind, `strict decoding error: ${texts.join(', ')}`);
  }
  if (mode === 'Warn') for (const text of texts) warn?.(text);
  dropUnknownFields(kind.schema, object);
}
