/** apps/v1 Deployment. */
import type { Deployment } from '../../../shared/kube/workloads/workload-types.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { secretEnvironmentWarnings, unsupportedFields } from '../pods/pod-spec-warnings.js';
import { AGE_COLUMN, column, NAME_COLUMN } from '../table-column.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { validateSelectorUpdate } from '../validation/workload-rules.js';
import { countGeneration, SCALE_SUBRESOURCE, setWorkloadDefaults, templateColumns } from './workload-kind.js';
import { validateDeployment, validateWorkloadStatus } from './workload-validation.js';

const QUARTER = '25%';
const HISTORY_LIMIT = 10;
const PROGRESS_DEADLINE_SECONDS = 600;

/** `pkg/apis/apps/v1/defaults.go` SetDefaults_Deployment. */
function setDefaults(deployment: Deployment): void {
  setWorkloadDefaults(deployment);
  const { spec } = deployment;
  spec.strategy ??= {};
  spec.strategy.type ||= 'RollingUpdate';
  if (spec.strategy.type === 'RollingUpdate') {
    spec.strategy.rollingUpdate ??= {};
    spec.strategy.rollingUpdate.maxUnavailable ??= QUARTER;
    spec.strategy.rollingUpdate.maxSurge ??= QUARTER;
  }
  spec.revisionHistoryLimit ??= HISTORY_LIMIT;
  spec.progressDeadlineSeconds ??= PROGRESS_DEADLINE_SECONDS;
}

/** Also a change of annotations raises the generation (`pkg/registry/apps/deployment/strategy.go`). */
function prepareForUpdate(next: Deployment, current: Deployment): void {
  next.status = current.status ?? {};
  countGeneration(next, current);
  const annotated = !semanticallyEqual(next.metadata.annotations ?? {}, current.metadata.annotations ?? {});
  if (annotated && next.metadata.generation === current.metadata.generation) {
    next.metadata.generation = (current.metadata.generation ?? 0) + 1;
  }
}

export const deploymentKind: Kind<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: 'deployments',
  singular: 'deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.apps.v1.Deployment',
  subresources: {
    scale: SCALE_SUBRESOURCE,
    status: { group: 'apps', version: 'v1', kind: 'Deployment', verbs: STATUS_VERBS },
  },
  columns: [
    NAME_COLUMN,
    column(
      'Ready',
      'string',
      'Ready Pods of the desired Pods.',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
    ),
    column(
      'Up-to-date',
      'string',
      'Pods of the newest template.',
      ({ status }) => status?.updatedReplicas ?? 0,
    ),
    column('Available', 'string', 'Available Pods.', ({ status }) => status?.availableReplicas ?? 0),
    AGE_COLUMN,
    ...templateColumns<Deployment>(),
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults,
  prepareForCreate: (deployment) => {
    deployment.status = {};
    deployment.metadata.generation = 1;
  },
  prepareForUpdate,
  prepareForStatusUpdate: (next, current) => {
    next.spec = current.spec;
    if (current.metadata.labels) next.metadata.labels = current.metadata.labels;
    else delete next.metadata.labels;
  },
  validate: validateDeployment,
  validateUpdate: validateSelectorUpdate,
  validateStatusUpdate: validateWorkloadStatus,
  warnings: ({ spec }) => [
    ...unsupportedFields(spec.template.spec, 'spec.template.spec'),
    ...secretEnvironmentWarnings(spec.template.spec, 'spec.template.spec'),
  ],
};
