/** PodTemplate, HorizontalPodAutoscaler and RuntimeClass: stored, because charts contain them. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import { inertKind } from '../inert-kind.js';
import type { FieldError } from '../kind.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, UNKNOWN } from '../table-column.js';
import { invalidValue, required } from '../validation/field-error.js';
import { storedStatus } from './stored-status.js';

const AUTOSCALING = 'autoscaling';
/** Upstream's message for a value that must be positive. */
const POSITIVE = 'must be greater than 0';

interface PodTemplate extends KubeObject {
  template?: Partial<PodTemplateSpec>;
}

interface HorizontalPodAutoscaler extends KubeObject {
  spec?: {
    scaleTargetRef?: { kind?: string; name?: string };
    minReplicas?: number;
    maxReplicas?: number;
  };
  status?: { currentReplicas?: number };
}

interface RuntimeClass extends KubeObject {
  handler?: string;
}

/** validateHorizontalPodAutoscalerSpec, without the feature HPAScaleToZero. */
function minReplicasProblems(least = 1, most = 0): FieldError[] {
  return [
    ...(least < 1 ? [invalidValue('spec.minReplicas', least, 'must be greater than or equal to 1')] : []),
    ...(most < least
      ? [invalidValue('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`')]
      : []),
  ];
}

export const podTemplateKind = inertKind<PodTemplate>({
  ...{ group: '', kind: 'PodTemplate', resource: 'podtemplates', singular: 'podtemplate', namespaced: true },
  schema: 'io.k8s.api.core.v1.PodTemplate',
  columns: [
    NAME_COLUMN,
    column('Containers', 'string', 'Names of the containers.', ({ template }) =>
      (template?.spec?.containers ?? []).map(({ name }) => name).join(','),
    ),
    column('Images', 'string', 'Images of the containers.', ({ template }) =>
      (template?.spec?.containers ?? []).map(({ image }) => image).join(','),
    ),
    column('Pod Labels', 'string', 'Labels of the template.', ({ template }) =>
      labelsText(template?.metadata?.labels),
    ),
  ],
  warnings: () => ['PodTemplate: no controller of Everynode creates Pods of it'],
});

export const horizontalPodAutoscalerKind = inertKind<HorizontalPodAutoscaler>({
  ...{ group: AUTOSCALING, version: 'v2', kind: 'HorizontalPodAutoscaler' },
  ...{ resource: 'horizontalpodautoscalers', singular: 'horizontalpodautoscaler', shortNames: ['hpa'] },
  ...{ categories: ['all'], namespaced: true, schema: 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler' },
  ...storedStatus<HorizontalPodAutoscaler>({
    ...{ group: AUTOSCALING, version: 'v2', kind: 'HorizontalPodAutoscaler' },
  }),
  columns: [
    NAME_COLUMN,
    column('Reference', 'string', 'The object to scale.', ({ spec }) => {
      return `${spec?.scaleTargetRef?.kind}/${spec?.scaleTargetRef?.name}`;
    }),
    column('Targets', 'string', 'Metrics and their targets.', () => UNKNOWN),
    column('MinPods', 'string', 'The least number of Pods.', ({ spec }) =>
      String(spec?.minReplicas ?? '<unset>'),
    ),
    column('MaxPods', 'integer', 'The greatest number of Pods.', ({ spec }) => spec?.maxReplicas ?? 0),
    column('Replicas', 'integer', 'The present number.', ({ status }) => status?.currentReplicas ?? 0),
    AGE_COLUMN,
  ],
  setDefaults: ({ spec }) => {
    if (spec) spec.minReplicas ??= 1;
  },
  validate: ({ spec }) => [
    ...(spec?.scaleTargetRef?.kind ? [] : [required('spec.scaleTargetRef.kind')]),
    ...(spec?.scaleTargetRef?.name ? [] : [required('spec.scaleTargetRef.name')]),
    ...((spec?.maxReplicas ?? 0) > 0
      ? []
      : [invalidValue('spec.maxReplicas', spec?.maxReplicas ?? 0, POSITIVE)]),
    ...minReplicasProblems(spec?.minReplicas, spec?.maxReplicas),
  ],
  warnings: () => ['HorizontalPodAutoscaler: Everynode scales nothing by metrics: set the replicas yourself'],
});

export const runtimeClassKind = inertKind<RuntimeClass>({
  ...{ group: 'node.k8s.io', kind: 'RuntimeClass', resource: 'runtimeclasses', singular: 'runtimeclass' },
  ...{ namespaced: false, schema: 'io.k8s.api.node.v1.RuntimeClass' },
  columns: [
    NAME_COLUMN,
    column('Handler', 'string', 'The runtime handler.', ({ handler }) => handler ?? ''),
    AGE_COLUMN,
  ],
  validate: ({ handler }) => (handler ? [] : [required('handler')]),
  validateUpdate: (next, current) =>
    next.handler === current.handler ? [] : [invalidValue('handler', next.handler, 'field is immutable')],
  warnings: () => [
    "RuntimeClass: hosts start every Pod with their engine's default runtime, also a Pod that names it",
  ],
});
