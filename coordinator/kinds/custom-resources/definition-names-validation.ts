/** Names, printer columns and subresources of a definition (apiextensions-apiserver pkg/apis/apiextensions/validation). */
import type {
  CustomResourceNames,
  CustomResourceVersion,
  PrinterColumn,
  ScaleSubresource,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import type { FieldError } from '../kind.js';
import { invalidValue, required } from '../validation/field-error.js';

const DNS_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const DNS_1035_ERROR =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Returns the problems of a DNS-1035 label, joined as upstream reports them, or "". */
export function dns1035Problem(text: string): string {
  const long = text.length > 63 ? ['must be no more than 63 characters'] : [];
  return [...long, ...(DNS_1035.test(text) ? [] : [DNS_1035_ERROR])].join(',');
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function labelError(field: string, value: string, prefix = ''): FieldError[] {
  const problem = dns1035Problem(prefix === '' ? value : value.toLowerCase());
  return value === '' || problem === '' ? [] : [invalidValue(field, value, prefix + problem)];
}

/** Absent names are reported by the caller, because a status may lack them. */
export function validateNames(names: Partial<CustomResourceNames>, field: string): FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names;
  const mixed = 'may have mixed case, but should otherwise match: ';
  return [
    ...labelError(`${field}.plural`, plural),
    ...labelError(`${field}.singular`, singular),
    ...labelError(`${field}.kind`, kind, mixed),
    ...labelError(`${field}.listKind`, listKind, mixed),
    ...shortNames.flatMap((name, index) => labelError(`${field}.shortNames[${index}]`, name)),
    ...(kind !== '' && kind === listKind
      ? [invalidValue(`${field}.listKind`, listKind, 'kind and listKind may not be the same')]
      : []),
    ...categories.flatMap((name, index) => labelError(`${field}.categories[${index}]`, name)),
  ];
}

function simplePathError(path: string, field: string): FieldError | undefined {
  return path.startsWith('.')
    ? undefined
    : invalidValue(field, path, 'must be a simple json path starting with .');
}

export function validateColumn(column: PrinterColumn, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  if (!column.name) errors.push(required(`${field}.name`));
  if (!column.type) errors.push(required(`${field}.type`, types));
  else if (!COLUMN_TYPES.includes(column.type))
    errors.push(invalidValue(`${field}.type`, column.type, types));
  if (column.format && !COLUMN_FORMATS.includes(column.format)) {
    errors.push(invalidValue(`${field}.format`, column.format, `must be one of ${COLUMN_FORMATS.join(',')}`));
  }
  const path = `${field}.JSONPath`;
  if (!column.jsonPath) errors.push(required(path));
  else errors.push(...[simplePathError(column.jsonPath, path)].filter((error) => error !== undefined));
  return errors;
}

function scalePath(path: string | undefined, field: string, roots: readonly string[]): FieldError[] {
  if (!path) return [required(field)];
  const error = simplePathError(path, field);
  if (error) return [error];
  const where = roots.length === 1 ? `under ${roots[0]}` : `under either ${roots.join(' or ')}`;
  return roots.some((root) => path.startsWith(`${root}.`))
    ? []
    : [invalidValue(field, path, `should be a json path ${where}`)];
}

export function validateSubresources(
  subresources: CustomResourceVersion['subresources'],
  field: string,
): FieldError[] {
  const scale: Partial<ScaleSubresource> | undefined = subresources?.scale;
  if (!scale) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  return [
    ...scalePath(specReplicasPath, `${field}.scale.specReplicasPath`, ['.spec']),
    ...scalePath(statusReplicasPath, `${field}.scale.statusReplicasPath`, ['.status']),
    ...(labelSelectorPath
      ? scalePath(labelSelectorPath, `${field}.scale.labelSelectorPath`, ['.spec', '.status'])
      : []),
  ];
}
