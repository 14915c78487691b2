/**
 * v1 Service: none exist and none can be made. It is served, read-only, because `kubectl cluster-info`
 * lists Services and gives up where the resource is unknown.
 */
import type { KubeObject } from '../../shared/kube/meta.js';
import type { Kind } from './kind.js';
import { AGE_COLUMN, NAME_COLUMN } from './table-column.js';

export const serviceKind: Kind = {
  group: '',
  version: 'v1',
  kind: 'Service',
  resource: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: [],
  namespaced: true,
  verbs: ['get', 'list'],
  schema: 'io.k8s.api.core.v1.Service',
  subresources: {},
  columns: [NAME_COLUMN, AGE_COLUMN],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsLabel',
  setDefaults: () => undefined,
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate: () => [],
  validateUpdate: () => [],
  warnings: () => [],
  reader: { get: () => undefined, list: (): KubeObject[] => [] },
};
