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
/** At most this many bytes for each UTF-16 code unit. */
const UTF8_BYTES = 3;

function validateKey(key: string, field: string): FieldError[] {
  const quoted = key.includes("'") ? ["must not contain '"] : [];
  return invalidFor(field, key, [...configMapKeyProblems(key), ...quoted]);
}

function validateValues(values: Record<string, string> | undefined, field: string): FieldError[] {
  return Object.entries(values ?? {}).flatMap(([key, value]) =>
    validateValue(key, value, `${field}[${key}]`),
  );
}

function validateValue(key: string, value: unknown, path: string): FieldError[] {
  if (typeof value !== 'string') return [invalidValue(path, value, 'must be a string: put it in quotes')];
  const bytes = Buffer.byteLength(value);
  const isTooLong = bytes > MAX_VALUE_BYTES;
  const remedy = `has ${bytes} bytes, and at most ${MAX_VALUE_BYTES} are allowed: put it in a ConfigMap`;
  return [
    ...validateKey(key, path),
    ...(isTooLong ? [invalidValue(path, `${value.slice(0, 20)}…`, remedy)] : []),
  ];
}

/** Allocates nothing for a valid host: an object of thousands of hosts is validated when the value of one changes. */
function validateHosts(hosts: NonNullable<HostValuesSpec['hosts']>): FieldError[] {
  const errors: FieldError[] = [];
  const validKeys = new Set<string>();
  const isValid = (key: string, value: unknown) => {
    if (typeof value !== 'string' || value.length > MAX_VALUE_BYTES / UTF8_BYTES) return false;
    if (validKeys.has(key)) return true;
    if (validateKey(key, '').length > 0) return false;
    validKeys.add(key);
    return true;
  };
  for (const node of Object.keys(hosts)) {
    const problems = dnsSubdomainProblems(node);
    if (problems.length > 0) errors.push(...invalidFor(`spec.hosts[${node}]`, node, problems));
    const values = hosts[node] ?? {};
    for (const key of Object.keys(values)) {
      if (!isValid(key, values[key]))
        errors.push(...validateValue(key, values[key], `spec.hosts[${node}][${key}]`));
    }
  }
  return errors;
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
    ...validateHosts(spec.hosts ?? {}),
  ];
}
