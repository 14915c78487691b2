/** v1 ConfigMap. */
import type { ConfigMap } from '../../../shared/kube/objects/config-types.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN } from '../table-column.js';
import { invalidValue, tooLong } from '../validation/field-error.js';
import { MAX_DATA_BYTES, validateDataKeys, validateImmutable } from './immutable-data.js';

function keyCount(map: ConfigMap): number {
  return Object.keys(map.data ?? {}).length + Object.keys(map.binaryData ?? {}).length;
}

function sizeOf(map: ConfigMap): number {
  const texts = Object.values(map.data ?? {}).map((text) => Buffer.byteLength(text));
  const binaries = Object.values(map.binaryData ?? {}).map((text) => Buffer.byteLength(text, 'base64'));
  return [...texts, ...binaries].reduce((sum, size) => sum + size, 0);
}

function validate(map: ConfigMap): FieldError[] {
  const twice = Object.keys(map.data ?? {}).filter((key) => Object.hasOwn(map.binaryData ?? {}, key));
  return [
    ...validateDataKeys(map.data, 'data'),
    ...twice.map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...validateDataKeys(map.binaryData, 'binaryData'),
    ...(sizeOf(map) > MAX_DATA_BYTES ? [tooLong('', MAX_DATA_BYTES)] : []),
  ];
}

export const configMapKind: Kind<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.core.v1.ConfigMap',
  subresources: {},
  columns: [NAME_COLUMN, column('Data', 'string', 'How many keys it holds.', keyCount), AGE_COLUMN],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate,
  validateUpdate: (next, current) => validateImmutable(next, current, ['data', 'binaryData']),
  warnings: () => [],
};
