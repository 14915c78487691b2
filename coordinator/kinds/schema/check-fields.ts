/** Compares a JSON object with its schema and reports errors in the wording of Go's decoder (upstream's 400). */
import { isTimeText } from '../../../shared/kube/objects/meta.js';
import { parseQuantity } from '../../../shared/kube/objects/quantity.js';
import { referencedName, resolved, type Schema } from './schema-definitions.js';

/** Both lists are in the order of the object's fields. */
export interface FieldFindings {
  /** For example `unknown field "spec.template.spec.containers[0].foo"` and `duplicate field "metadata.name"`. */
  strictFindings: string[];
  /**
   * For example `json: cannot unmarshal string into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32`.
   */
  typeErrors: string[];
}

/** The findings so far, and the paths that occur twice in the text. */
interface Walk extends FieldFindings {
  repeated: ReadonlySet<string>;
}

/** The position of the check: the path in two forms, and the struct with the field. */
interface Place {
  /** With list indexes, for unknown fields. */
  path: string;
  /** Without list indexes, for Go's errors. */
  goPath: string;
  struct: string;
}

/** Upstream's message for an invalid quantity. */
const QUANTITY_FORM =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const INTEGER_LIMITS: Record<string, number> = { int32: 2 ** 31, int64: 2 ** 63 };

/**
 * Returns unknown fields and wrong types. `repeated` paths are reported only for known fields. `definition` is a schema
 * or the name of one.
 */
export function checkFields(
  definition: string | Schema,
  object: unknown,
  repeated: ReadonlySet<string> = new Set(),
): FieldFindings {
  const findings: Walk = { strictFindings: [], typeErrors: [], repeated };
  const isName = typeof definition === 'string';
  const root = { path: '', goPath: '', struct: isName ? shortName(definition) : '' };
  checkValue(isName ? { $ref: `#/components/schemas/${definition}` } : definition, object, root, findings);
  const { strictFindings, typeErrors } = findings;
  return { strictFindings, typeErrors };
}

function reportRepeated(path: string, { repeated, strictFindings }: Walk): void {
  // A lookup joins the pieces of the path, which costs more than the rest of the check.
  if (repeated.size > 0 && repeated.has(path)) strictFindings.push(`duplicate field "${path}"`);
}

/** Returns `PodSpec` for `io.k8s.api.core.v1.PodSpec`. */
function shortName(definition: string): string {
  return definition.slice(definition.lastIndexOf('.') + 1);
}

function checkValue(schema: Schema, value: unknown, place: Place, findings: Walk): void {
  if (value === null || value === undefined) return;
  const name = referencedName(schema);
  const type = resolved(schema);
  if (type.properties) checkStruct(name ?? '', type, value, place, findings);
  else if (type['x-kubernetes-preserve-unknown-fields']) return;
  else if (type.additionalProperties) checkMap(type, value, place, findings);
  else if (type.type === 'array') checkList(type, value, place, findings);
  else checkScalar(name, type, value, place, findings);
}

function checkStruct(name: string, type: Schema, value: unknown, place: Place, findings: Walk): void {
  if (!isObject(value)) {
    wrongType(value, `v1.${shortName(name)}`, place, findings);
    return;
  }
  for (const [field, child] of Object.entries(value)) {
    const path = place.path === '' ? field : `${place.path}.${field}`;
    const goPath = place.goPath === '' ? field : `${place.goPath}.${field}`;
    const schema =
      type.properties && Object.hasOwn(type.properties, field) ? type.properties[field] : undefined;
    if (schema) {
      checkValue(schema, child, { path, goPath, struct: shortName(name) }, findings);
      reportRepeated(path, findings);
    } else findings.strictFindings.push(`unknown field "${path}"`);
  }
}

function checkMap(type: Schema, value: unknown, place: Place, findings: Walk): void {
  if (!isObject(value)) {
    wrongType(value, goType(type), place, findings);
    return;
  }
  const values = type.additionalProperties ?? {};
  for (const [key, child] of Object.entries(value)) {
    const path = `${place.path}.${key}`;
    checkValue(values, child, { ...place, path }, findings);
    reportRepeated(path, findings);
  }
}

function checkList(type: Schema, value: unknown, place: Place, findings: Walk): void {
  if (!Array.isArray(value)) {
    wrongType(value, goType(type), place, findings);
    return;
  }
  const items = type.items ?? {};
  for (const [index, child] of value.entries()) {
    checkValue(items, child, { ...place, path: `${place.path}[${index}]` }, findings);
  }
}

function checkScalar(
  name: string | undefined,
  type: Schema,
  value: unknown,
  place: Place,
  findings: Walk,
): void {
  if (name?.endsWith('.Quantity')) {
    checkQuantity(value, findings);
    return;
  }
  if (type.format === 'int-or-string') {
    checkIntOrString(value, findings);
    return;
  }
  if (type.type === 'integer' || type.type === 'number') {
    checkNumber(type, value, place, findings);
    return;
  }
  if (typeof value !== type.type) {
    wrongType(value, goType(type), place, findings);
    return;
  }
  if (type.format === 'date-time' && !isTimeText(String(value))) {
    const text = JSON.stringify(value);
    findings.typeErrors.push(
      `parsing time ${text} as "2006-01-02T15:04:05Z07:00": cannot parse ${text} as "2006"`,
    );
  }
  if (type.format === 'byte') checkBase64(String(value), findings);
}

function checkNumber(type: Schema, value: unknown, place: Place, findings: Walk): void {
  if (typeof value !== 'number') {
    wrongType(value, goType(type), place, findings);
    return;
  }
  if (type.type === 'number') return;
  const limit = INTEGER_LIMITS[type.format ?? 'int64'] ?? Number.POSITIVE_INFINITY;
  if (Number.isInteger(value) && value < limit && value >= -limit) return;
  findings.typeErrors.push(goError(`number ${value}`, goType(type), place));
}

/** A quantity may also be a JSON number: `cpu: 1`. */
function checkQuantity(value: unknown, findings: Walk): void {
  const readable = typeof value === 'number' || typeof value === 'string';
  if (readable && parseQuantity(value) !== undefined) return;
  findings.typeErrors.push(QUANTITY_FORM);
}

function checkIntOrString(value: unknown, findings: Walk): void {
  if (typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value))) return;
  findings.typeErrors.push(`json: cannot unmarshal ${jsonWord(value)} into Go value of type int32`);
}

function checkBase64(text: string, findings: Walk): void {
  const bad = /[^A-Za-z0-9+/=\r\n]/.exec(text);
  const packed = text.replace(/[\r\n]/g, '');
  if (!bad && packed.length % 4 === 0 && /^[^=]*={0,2}$/.test(packed)) return;
  findings.typeErrors.push(`illegal base64 data at input byte ${bad ? bad.index : packed.length}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the name that Go's decoder uses for a JSON value. */
function jsonWord(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}

/** Returns the Go type of a schema as Go's decoder prints it. */
function goType(schema: Schema): string {
  const name = referencedName(schema);
  if (name?.endsWith('.Quantity')) return 'resource.Quantity';
  if (name) return `v1.${shortName(name)}`;
  if (schema.items) return `[]${goType(schema.items)}`;
  if (schema.additionalProperties) return `map[string]${goType(schema.additionalProperties)}`;
  if (schema.type === 'boolean') return 'bool';
  if (schema.type === 'integer') return schema.format ?? 'int64';
  return schema.type === 'number' ? 'float64' : (schema.type ?? 'string');
}

function goError(found: string, wanted: string, place: Place): string {
  const target =
    place.goPath === ''
      ? `Go value of type ${wanted}`
      : `Go struct field ${place.struct}.${place.goPath} of type ${wanted}`;
  return `json: cannot unmarshal ${found} into ${target}`;
}

function wrongType(value: unknown, wanted: string, place: Place, findings: Walk): void {
  findings.typeErrors.push(goError(jsonWord(value), wanted, place));
}
