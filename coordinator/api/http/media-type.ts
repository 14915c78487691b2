/** Parses `Accept` and `Content-Type`, as far as Kubernetes clients use them. */
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';

/** The form of the objects in a response: whole objects, a Table, or their metadata alone. */
type AnswerForm = 'object' | 'table' | 'metadata';

/** The version of `meta.k8s.io` in which a Table or metadata are sent. */
export type MetaVersion = 'v1' | 'v1beta1';

/** The negotiated form. `metaVersion` has no effect on whole objects. */
export interface Negotiated {
  form: AnswerForm;
  metaVersion: MetaVersion;
}

const WHOLE: Negotiated = { form: 'object', metaVersion: 'v1' };

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

const FORMS: Readonly<Record<string, AnswerForm>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata',
};

function formOf({ type, parameters }: MediaType): Negotiated | undefined {
  if (!['application/json', 'application/*', '*/*'].includes(type)) return undefined;
  const { as, g: group, v: version } = parameters;
  if (as === undefined) return WHOLE;
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  const form = ownValue(FORMS, as);
  return form && { form, metaVersion: version };
}

/**
 * Returns the first supported form in the header; without a header, the whole object. Throws 406 if no form is
 * supported. `offered`: the forms that the resource has.
 */
export function negotiateAnswer(
  accept: string | undefined,
  offered: readonly AnswerForm[] = ['object', 'table', 'metadata'],
): Negotiated {
  if (!accept) return WHOLE;
  for (const part of accept.split(',')) {
    const negotiated = formOf(parseMediaType(part));
    if (negotiated && offered.includes(negotiated.form)) return negotiated;
  }
  throw notAcceptable();
}

/**
 * Throws 406 unless the header accepts whole objects, for resources without Tables such as reviews. Clients that
 * understand only Tables would otherwise misread the answer.
 */
export function requireWholeObject(accept: string | undefined): void {
  negotiateAnswer(accept, ['object']);
}

/** Returns the 406 with upstream's words (`pkg/endpoints/handlers/negotiation/errors.go`). */
function notAcceptable(): ApiError {
  return new ApiError(
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/json;stream=watch',
  );
}
