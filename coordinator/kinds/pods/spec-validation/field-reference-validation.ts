/** Validation of the downward API: references from environment and files to fields and resources of the Pod. */

import { parseValuePath } from '../../../../shared/kube/host-values/rendered-values.js';
import { parseQuantity } from '../../../../shared/kube/objects/quantity.js';
import type {
  ObjectFieldSelector,
  ResourceFieldSelector,
} from '../../../../shared/kube/pods/volume-types.js';
import type { FieldError } from '../../kind.js';
import { invalidValue, notSupported, required } from '../../validation/field-error.js';
import { configMapKeyProblems, qualifiedNameProblems } from '../../validation/name-rules.js';
import { invalidFor } from '../../validation/object-meta-validation.js';

/** Pod fields that an environment variable may reference. */
export const ENV_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Pod fields that a file may reference. */
export const FILE_FIELDS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Fields that upstream can convert. Others are conversion errors. */
const CONVERTIBLE = new Set([
  ...ENV_FIELDS,
  ...FILE_FIELDS,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

const RESOURCES = ['limits', 'requests'].flatMap((list) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((resource) => `${list}.${resource}`),
);
const HUGE_PAGES = /^(limits|requests)\.hugepages-/;
const CPU_DIVISORS = ['1m', '1'];
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** `metadata.labels['key']` is one label. Upstream reports errors at the whole selector. */
function validateKeyedField(path: string, key: string, field: string): FieldError[] {
  if (path === 'metadata.annotations')
    return invalidFor(field, key, qualifiedNameProblems(key.toLowerCase()));
  if (path === 'metadata.labels') return invalidFor(field, key, qualifiedNameProblems(key));
  return [invalidValue(field, path, 'does not support subscript')];
}

/** Validates a reference to a value of the host, such as `node.metadata.labels['site']`. */
function validateValuePath(path: string, field: string): FieldError[] | undefined {
  const value = parseValuePath(path);
  if (!value) return undefined;
  const { source, key } = value;
  if (source === 'hostValues') return invalidFor(field, path, configMapKeyProblems(key));
  const name = source === 'node.metadata.annotations' ? key.toLowerCase() : key;
  return invalidFor(field, path, qualifiedNameProblems(name));
}

/** Validates a reference to a field of the Pod, or to a value of its host. */
export function validateFieldRef(
  selector: ObjectFieldSelector,
  allowed: readonly string[],
  field: string,
): FieldError[] {
  if (!selector.apiVersion) return [required(`${field}.apiVersion`)];
  if (!selector.fieldPath) return [required(`${field}.fieldPath`)];
  const path = `${field}.fieldPath`;
  const hostValue = validateValuePath(selector.fieldPath, path);
  if (hostValue) return hostValue;
  const keyed = /^(.*)\['(.*)'\]$/.exec(selector.fieldPath);
  const name = keyed?.[1] ?? selector.fieldPath;
  if (!CONVERTIBLE.has(name)) {
    return [
      invalidValue(
        path,
        selector.fieldPath,
        `error converting fieldPath: field label not supported: ${selector.fieldPath}`,
      ),
    ];
  }
  if (keyed) return validateKeyedField(name, keyed[2] ?? '', field);
  return allowed.includes(name) ? [] : [notSupported(path, name, allowed)];
}

function validateDivisor(selector: ResourceFieldSelector, field: string): FieldError[] {
  const divisor = parseQuantity(selector.divisor);
  if (divisor === undefined || divisor === 0) return [];
  const [, resource = ''] = (selector.resource ?? '').split('.');
  const allowed = resource === 'cpu' ? CPU_DIVISORS : BYTE_DIVISORS;
  if (allowed.some((text) => parseQuantity(text) === divisor)) return [];
  const detail = `only divisor's values ${allowed.join(', ')} are supported with the ${resource} resource`;
  return [invalidValue(`${field}.divisor`, selector.resource, detail)];
}

/** Validates a reference to a container's limit or request. In a file, the reference must name the container. */
export function validateResourceRef(
  selector: ResourceFieldSelector,
  inFile: boolean,
  field: string,
): FieldError[] {
  return [...validateResourceName(selector, inFile, field), ...validateDivisor(selector, field)];
}

function validateResourceName(selector: ResourceFieldSelector, inFile: boolean, field: string): FieldError[] {
  const { containerName, resource } = selector;
  if (inFile && !containerName) return [required(`${field}.containerName`)];
  if (!resource) return [required(`${field}.resource`)];
  if (RESOURCES.includes(resource) || HUGE_PAGES.test(resource)) return [];
  return [notSupported(`${field}.resource`, resource, RESOURCES)];
}
