/** Parses `Accept` and `Content-Type`, as far as Kubernetes clients use them. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';

/** The form of the objects in a response: whole objects, a Table, or their metadata alone. */
export type AnswerForm = 'object' | 'table' | 'metadata';

interface MediaType {
  /** Lower-case `type/subtype`. */
  type: string;
  parameters: Readonly<Record<string, string>>;
}

/** Splits `type/subtype;a=b;c=d`. Never throws: an invalid text yields a type that matches nothing. */
export function parseMediaType(text: string): MediaType {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = rest.map((part): [string, string] => {
    const [key = '', value = ''] = part.split('=', 2);
    return [key.trim().toLowerCase(), value.trim()];
  });
  return { type: type.toLowerCase(), parameters: Object.fromEntries(parameters) };
}

const META_VERSIONS = new Set(['v1', 'v1beta1']);

function formOf({ type, parameters }: MediaType): AnswerForm | undefined {
  if (!['application/json', 'application/*', '*/*'].includes(type)) return undefined;
  const as = parameters.as;
  if (as === undefined) return 'object';
  if (parameters.g !== 'meta.k8s.io' || !META_VERSIONS.has(parameters.v ?? '')) return undefined;
  if (as === 'Table') return 'table';
  if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return 'metadata';
  return undefined;
}

/**
 * Returns the first supported form in the header; without a header, the whole object. Throws 406 if no form is
 * supported.
 */
export function negotiateAnswer(accept: string | undefined): AnswerForm {
  if (!accept) return 'object';
  for (const part of accept.split(',')) {
    const form = formOf(parseMediaType(part));
    if (form) return form;
  }
  throw new ApiError(
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/json;stream=watch',
  );
}
