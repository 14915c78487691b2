/** v1 ConfigMap: stored and served; not mounted into Pods yet. */
import type { ConfigMap } from '../../shared/kube/config.js';
import type { Kind } from './kind.js';
import { AGE_COLUMN, column, NAME_COLUMN } from './table-column.js';
import { STANDARD_VERBS } from './verbs.js';

function keyCount(map: ConfigMap): number {
  return Object.keys(map.data ?? {}).length + Object.keys(map.binaryData ?? {}).length;
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
  validate: () => [],
  validateUpdate: () => [],
  warnings: () => [],
};
