/** apps/v1 DaemonSet. */
import type { DaemonSet, DaemonSetSpec } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { TEMPLATE_GENERATION_ANNOTATION } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { setPodTemplateDefaults } from '../../../shared/kube/pods/pod-defaults.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { secretEnvironmentWarnings, unsupportedFields } from '../pods/pod-spec-warnings.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, wideColumn } from '../table-column.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { validateSelectorUpdate } from '../validation/workload-rules.js';
import { validateDaemonSet, validateDaemonSetStatus } from './daemonset-validation.js';

function templateGeneration(daemonSet: DaemonSet): number {
  return Number.parseInt(daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION] ?? '0', 10) || 0;
}

function setTemplateGeneration(daemonSet: DaemonSet, generation: number): void {
  daemonSet.metadata.annotations = {
    ...daemonSet.metadata.annotations,
    [TEMPLATE_GENERATION_ANNOTATION]: String(generation),
  };
}

const NO_STATUS = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

/** `pkg/registry/apps/daemonset/strategy.go`: generation 1. The creator may set a template generation. */
function prepareForCreate(daemonSet: DaemonSet): void {
  daemonSet.status = { ...NO_STATUS };
  daemonSet.metadata.generation = 1;
  setTemplateGeneration(daemonSet, Math.max(templateGeneration(daemonSet), 1));
}

/** The template generation counts changes of the template, metadata.generation all changes of spec. */
function prepareForUpdate(next: DaemonSet, current: DaemonSet): void {
  next.status = current.status ?? { ...NO_STATUS };
  const templateChanged = !semanticallyEqual(next.spec.template, current.spec.template);
  const specChanged = templateChanged || !semanticallyEqual(next.spec, current.spec);
  setTemplateGeneration(next, templateGeneration(current) + (templateChanged ? 1 : 0));
  next.metadata.generation = (current.metadata.generation ?? 0) + (specChanged ? 1 : 0);
}

function prepareForStatusUpdate(next: DaemonSet, current: DaemonSet): void {
  next.spec = current.spec;
}

export const daemonSetKind: Kind<DaemonSet> = {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  resource: 'daemonsets',
  singular: 'daemonset',
  shortNames: ['ds'],
  categories: ['all'],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.apps.v1.DaemonSet',
  subresources: { status: { group: 'apps', version: 'v1', kind: 'DaemonSet', verbs: STATUS_VERBS } },
  columns: [
    NAME_COLUMN,
    column(
      'Desired',
      'integer',
      'Nodes that should run it.',
      (set) => set.status?.desiredNumberScheduled ?? 0,
    ),
    column(
      'Current',
      'integer',
      'Nodes that have its Pod.',
      (set) => set.status?.currentNumberScheduled ?? 0,
    ),
    column('Ready', 'integer', 'Nodes whose Pod is ready.', (set) => set.status?.numberReady ?? 0),
    column(
      'Up-to-date',
      'integer',
      'Nodes whose Pod is of the newest template.',
      (set) => set.status?.updatedNumberScheduled ?? 0,
    ),
    column(
      'Available',
      'integer',
      'Nodes whose Pod is available.',
      (set) => set.status?.numberAvailable ?? 0,
    ),
    column('Node Selector', 'string', 'Labels that a node needs.', (set) =>
      labelsText(set.spec.template.spec.nodeSelector),
    ),
    AGE_COLUMN,
    wideColumn('Containers', 'string', 'Names of the containers.', (set) =>
      set.spec.template.spec.containers.map((container) => container.name).join(','),
    ),
    wideColumn('Images', 'string', 'Images of the containers.', (set) =>
      set.spec.template.spec.containers.map((container) => container.image).join(','),
    ),
    wideColumn('Selector', 'string', 'Which Pods are its own.', (set) =>
      labelsText(set.spec.selector?.matchLabels),
    ),
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults: setDaemonSetDefaults,
  prepareForCreate,
  prepareForUpdate,
  prepareForStatusUpdate,
  validate: validateDaemonSet,
  validateUpdate: validateSelectorUpdate,
  validateStatusUpdate: validateDaemonSetStatus,
  warnings: ({ spec }) => [
    ...unsupportedFields(spec.template.spec, 'spec.template.spec'),
    ...secretEnvironmentWarnings(spec.template.spec, 'spec.template.spec'),
  ],
};

const REVISION_HISTORY_LIMIT = 10;

/** Each field has its own default, so `maxSurge: 1` alone conflicts with `maxUnavailable: 1`, like upstream. */
function setStrategyDefaults(spec: DaemonSetSpec): void {
  spec.updateStrategy ??= {};
  spec.updateStrategy.type ||= 'RollingUpdate';
  if (spec.updateStrategy.type !== 'RollingUpdate') return;
  spec.updateStrategy.rollingUpdate ??= {};
  spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1;
  spec.updateStrategy.rollingUpdate.maxSurge ??= 0;
}

/** Sets defaults in place (`pkg/apis/apps/v1/defaults.go`). Afterwards the template and its spec exist. */
function setDaemonSetDefaults(daemonSet: DaemonSet): void {
  const spec: Partial<DaemonSetSpec> = daemonSet.spec ?? {};
  const template = spec.template ?? { spec: { containers: [] } };
  setPodTemplateDefaults(template);
  daemonSet.spec = Object.assign(spec as DaemonSetSpec, { template });
  setStrategyDefaults(daemonSet.spec);
  daemonSet.spec.revisionHistoryLimit ??= REVISION_HISTORY_LIMIT;
}
