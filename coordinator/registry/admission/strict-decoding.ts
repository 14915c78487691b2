/** Field validation: wrong JSON types, fields that the generated schema lacks, and repeated fields. */

import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Kind } from '../../kinds/kind.js';
import { checkFields } from '../../kinds/schema/check-fields.js';
import { dropUnknownFields } from '../../kinds/schema/drop-unknown-fields.js';
import { type JsonMap, unsharedParts } from '../encoding/json-value.js';
import type { RepeatedKeys, WriteOptions } from '../registry-options.js';
import { bodyTypeOf, undecodableText } from './typed-body.js';

/** A 400 with the message of upstream's decoder. `problem` is the part of the message about the fields. */
export class DecodingError extends ApiError {
  constructor(
    kind: Kind,
    readonly problem: string,
  ) {
    super('BadRequest', undecodableText(bodyTypeOf(kind), kind.kind, problem));
  }
}

/**
 * Returns the error of upstream's YAML decoder. It joins all lines into one error; as warnings, each line stands alone.
 */
export function yamlError(lines: readonly string[]): string {
  return `yaml: unmarshal errors:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** Returns the errors and warnings that upstream lists before those about fields. */
function findingsOfText(repeated: RepeatedKeys | undefined): {
  errors: readonly string[];
  warnings: readonly string[];
} {
  if (repeated?.by === 'yaml') return { errors: [yamlError(repeated.lines)], warnings: repeated.lines };
  const texts = repeated?.by === 'patch' ? repeated.texts : [];
  return { errors: texts, warnings: texts };
}

/**
 * Drops unknown fields from `object`, like upstream's decoder. A value of the wrong type is a 400 in every mode. An
 * unknown or repeated field is a 400 with Strict, a warning with Warn, and ignored with Ignore. Parts that `object` shares
 * with the stored object `current` are not checked again, unless the text repeats fields.
 */
export function decodeStrictly(
  kind: Kind,
  object: JsonMap,
  options: WriteOptions,
  current: JsonMap = {},
): void {
  const { fieldValidation, repeatedKeys, warn } = options;
  const repeated = repeatedKeys?.by === 'type' ? repeatedKeys.paths : undefined;
  const { strictFindings, typeErrors } = kind.decode
    ? kind.decode(object, repeated ?? new Set())
    : checkFields(kind.schema, repeated ? object : unsharedParts(object, current), repeated);
  const [typeError] = typeErrors;
  if (typeError !== undefined) throw new DecodingError(kind, typeError);
  const { errors, warnings } = findingsOfText(repeatedKeys);
  if (fieldValidation === 'Strict' && errors.length + strictFindings.length > 0) {
    const all = [...errors, ...strictFindings].join(', ');
    throw new DecodingError(kind, `strict decoding error: ${all}`);
  }
  if (fieldValidation === 'Warn') for (const text of [...warnings, ...strictFindings]) warn?.(text);
  if (!kind.decode) dropUnknownFields(kind.schema, object, current);
}
