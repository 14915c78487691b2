/** apps/v1 ReplicaSet. */
import type { ReplicaSet } from '../../../shared/kube/workloads/workload-types.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { secretEnvironmentWarnings, unsupportedFields } from '../pods/pod-spec-warnings.js';
import { AGE_COLUMN, column, NAME_COLUMN } from '../table-column.js';
import { validateSelectorUpdate } from '../validation/workload-rules.js';
import { countGeneration, SCALE_SUBRESOURCE, setWorkloadDefaults, templateColumns } from './workload-kind.js';
import { validateReplicaSet, validateWorkloadStatus } from './workload-validation.js';

export const replicaSetKind: Kind<ReplicaSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  resource: 'replicasets',
  singular: 'replicaset',
  shortNames: ['rs'],
  categories: ['all'],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.apps.v1.ReplicaSet',
  subresources: {
    scale: SCALE_SUBRESOURCE,
    status: { group: 'apps', version: 'v1', kind: 'ReplicaSet', verbs: STATUS_VERBS },
  },
  columns: [
    NAME_COLUMN,
    column('Desired', 'integer', 'Desired Pods.', ({ spec }) => spec.replicas ?? 0),
    column('Current', 'integer', 'Present Pods.', ({ status }) => status?.replicas ?? 0),
    column('Ready', 'integer', 'Ready Pods.', ({ status }) => status?.readyReplicas ?? 0),
    AGE_COLUMN,
    ...templateColumns<ReplicaSet>(),
  ],
  fields: { 'status.replicas': ({ status }) => String(status?.replicas ?? 0) },
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults: setWorkloadDefaults,
  prepareForCreate: (replicaSet) => {
    replicaSet.status = { replicas: 0 };
    replicaSet.metadata.generation = 1;
  },
  prepareForUpdate: (next, current) => {
    next.status = current.status ?? { replicas: 0 };
    countGeneration(next, current);
  },
  prepareForStatusUpdate: (next, current) => {
    next.spec = current.spec;
  },
  validate: validateReplicaSet,
  validateUpdate: validateSelectorUpdate,
  validateStatusUpdate: validateWorkloadStatus,
  warnings: ({ spec }) => [
    ...unsupportedFields(spec.template.spec, 'spec.template.spec'),
    ...secretEnvironmentWarnings(spec.template.spec, 'spec.template.spec'),
  ],
};
