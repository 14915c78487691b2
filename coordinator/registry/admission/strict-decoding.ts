/** Field validation: wrong JSON types, unknown fields by the generated schema, and repeated ones. */

import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Kind } from '../../kinds/kind.js';
import { checkFields } from '../../kinds/schema/check-fields.js';
import { dropUnknownFields } from '../../kinds/schema/drop-unknown-fields.js';
import type { JsonMap } from '../encoding/json-value.js';
import type { RepeatedKeys, WriteOptions } from '../registry.js';
import { bodyTypeOf, undecodableText } from './typed-body.js';

/** A 400 in the words of upstream's decoder; `problem` is what it would say of the fields alone. */
export class DecodingError extends ApiError {
  constructor(
    kind: Kind,
    readonly problem: string,
  ) {
    super('BadRequest', undecodableText(bodyTypeOf(kind), kind.kind, problem));
  }
}

/** One finding of the decoder of YAML: all its lines are one error, and one warning each. */
export function yamlError(lines: readonly string[]): string {
  return `yaml: unmarshal errors:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** What is said of repeated keys before anything about fields. */
function findingsOfText(repeated: RepeatedKeys | undefined): {
  errors: readonly string[];
  warnings: readonly string[];
} {
  if (repeated?.by === 'yaml') return { errors: [yamlError(repeated.lines)], warnings: repeated.lines };
  const texts = repeated?.by === 'patch' ? repeated.texts : [];
  return { errors: texts, warnings: texts };
}

/**
 * Leaves in `object` what upstream's decoder would. A value of the wrong type is a 400 in every mode; an
 * unknown or repeated field is a 400 with Strict, a warning with Warn, and dropped in silence with Ignore.
 */
export function decodeStrictly(kind: Kind, object: JsonMap, options: WriteOptions): void {
  const { fieldValidation, repeatedKeys, warn } = options;
  const repeated = repeatedKeys?.by === 'type' ? repeatedKeys.paths : undefined;
  const { strictFindings, typeErrors } = checkFields(kind.schema, object, repeated);
  const [typeError] = typeErrors;
  if (typeError !== undefined) throw new DecodingError(kind, typeError);
  const { errors, warnings } = findingsOfText(repeatedKeys);
  if (fieldValidation === 'Strict' && errors.length + strictFindings.length > 0) {
    const all = [...errors, ...strictFindings].join(', ');
    throw new DecodingError(kind, `strict decoding error: ${all}`);
  }
  if (fieldValidation === 'Warn') for (const text of [...warnings, ...strictFindings]) warn?.(text);
  dropUnknownFields(kind.schema, object);
}
