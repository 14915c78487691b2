/** Validation of HostValues. */
import type { HostValues, HostValuesSpec } from '../../../shared/kube/host-values/host-values-types.js';
import type { FieldError } from '../kind.js';
import { invalidValue, required } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import { configMapKeyProblems, dnsSubdomainProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';

const MAX_INT32 = 2 ** 31 - 1;
/** A Pod holds the values that it uses in one annotation. One value must not fill it. */
const MAX_VALUE_BYTES = 16 * 1024;

function validateKey(key: string, field: string): FieldError[] {
  const quoted = key.includes("'") ? ["must not contain '"] : [];
  return invalidFor(field, key, [...configMapKeyProblems(key), ...quoted]);
}

function validateValues(values: Record<string, string> | undefined, field: string): FieldError[] {
  return Object.entries(values ?? {}).flatMap(([key, value]) => {
    const path = `${field}[${key}]`;
    if (typeof value !== 'string') return [invalidValue(path, value, 'must be a string: put it in quotes')];
    const bytes = Buffer.byteLength(value);
    const isTooLong = bytes > MAX_VALUE_BYTES;
    const remedy = `has ${bytes} bytes, and at most ${MAX_VALUE_BYTES} are allowed: put it in a ConfigMap`;
    return [
      ...validateKey(key, path),
      ...(isTooLong ? [invalidValue(path, `${value.slice(0, 20)}…`, remedy)] : []),
    ];
  });
}

function validateSecrets({ secrets, values }: HostValuesSpec): FieldError[] {
  return Object.entries(secrets ?? {}).flatMap(([key, reference]) => {
    const path = `spec.secrets[${key}]`;
    const isTwice = values !== undefined && Object.hasOwn(values, key);
    const detail = 'is in spec.values too: a key has one value';
    return [
      ...validateKey(key, path),
      ...(reference.name
        ? invalidFor(`${path}.name`, reference.name, dnsSubdomainProblems(reference.name))
        : [required(`${path}.name`)]),
      ...(reference.key
        ? invalidFor(`${path}.key`, reference.key, configMapKeyProblems(reference.key))
        : [required(`${path}.key`)]),
      ...(isTwice ? [invalidValue(path, key, detail)] : []),
    ];
  });
}

function validatePriority(priority: number | undefined): FieldError[] {
  if (priority === undefined || (Number.isInteger(priority) && Math.abs(priority) <= MAX_INT32)) return [];
  return [invalidValue('spec.priority', priority, 'must be a 32-bit integer')];
}

/** Returns all errors of a HostValues object. */
export function validateHostValues({ spec }: HostValues): FieldError[] {
  if (!spec) return [required('spec')];
  return [
    ...validatePriority(spec.priority),
    ...validateLabelSelector(spec.nodeSelector, 'spec.nodeSelector'),
    ...validateValues(spec.values, 'spec.values'),
    ...validateSecrets(spec),
    ...Object.entries(spec.hosts ?? {}).flatMap(([node, values]) => [
      ...invalidFor(`spec.hosts[${node}]`, node, dnsSubdomainProblems(node)),
      ...validateValues(values, `spec.hosts[${node}]`),
    ]),
  ];
}
