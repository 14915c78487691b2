/** Validation of Deployments and ReplicaSets (`pkg/apis/apps/validation/validation.go`). */
import type { IntOrString } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type LabelSelector } from '../../../shared/kube/objects/selectors.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import type {
  Deployment,
  DeploymentStrategy,
  ReplicaSet,
} from '../../../shared/kube/workloads/workload-types.js';
import type { FieldError } from '../kind.js';
import { validatePodTemplate } from '../pods/spec-validation/pod-spec-validation.js';
import { validateNonNegative } from '../pods/spec-validation/value-validation.js';
import { forbidden, invalidValue, notSupported, required } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import { percentProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';
import { validateCounters, validateTemplateUse } from '../validation/workload-rules.js';

const STRATEGIES = ['Recreate', 'RollingUpdate'];

interface Workload {
  spec: { selector?: LabelSelector; template: PodTemplateSpec; replicas?: number; minReadySeconds?: number };
}

/** `kind`: upstream's name in the message for an empty selector. */
function validateWorkload({ spec }: Workload, kind: 'deployment' | 'replicaset'): FieldError[] {
  const { selector, template } = spec;
  const errors = [
    ...validateNonNegative(spec.replicas, 'spec.replicas'),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...(selector === undefined
      ? [required('spec.selector')]
      : validateLabelSelector(selector, 'spec.selector')),
  ];
  const terms = Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions ?? []).length;
  if (selector && terms === 0) {
    errors.push(invalidValue('spec.selector', selector, `empty selector is invalid for ${kind}`));
  }
  const labels = template.metadata?.labels;
  if (selector && errors.length === 0 && !compileLabelSelector(selector).matches(labels)) {
    const detail = '`selector` does not match template `labels`';
    errors.push(invalidValue('spec.template.metadata.labels', labels, detail));
  }
  return [
    ...errors,
    ...validatePodTemplate(template, 'spec.template'),
    ...validateTemplateUse(template, 'ReplicaSet'),
  ];
}

function isZero(value: IntOrString | undefined): boolean {
  return value === undefined || Number.parseInt(String(value), 10) === 0;
}

function validateAmount(value: IntOrString | undefined, field: string): FieldError[] {
  if (typeof value === 'string') return invalidFor(field, value, percentProblems(value));
  return validateNonNegative(value, field);
}

function validateStrategy(strategy: DeploymentStrategy | undefined): FieldError[] {
  const { type, rollingUpdate } = strategy ?? {};
  const field = 'spec.strategy.rollingUpdate';
  if (type === 'Recreate') {
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    return rollingUpdate ? [forbidden(field, detail)] : [];
  }
  if (type !== 'RollingUpdate') return [notSupported('spec.strategy', strategy, STRATEGIES)];
  if (!rollingUpdate) return [required(field, 'this should be defaulted and never be nil')];
  const { maxUnavailable, maxSurge } = rollingUpdate;
  const errors = [
    ...validateAmount(maxUnavailable, `${field}.maxUnavailable`),
    ...validateAmount(maxSurge, `${field}.maxSurge`),
  ];
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    errors.push(invalidValue(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  if (typeof maxUnavailable === 'string' && Number.parseInt(maxUnavailable, 10) > 100) {
    errors.push(invalidValue(`${field}.maxUnavailable`, maxUnavailable, 'must not be greater than 100%'));
  }
  return errors;
}

/** Returns all errors of a Deployment with defaults. */
export function validateDeployment(deployment: Deployment): FieldError[] {
  const { spec } = deployment;
  const errors = [
    ...validateWorkload(deployment, 'deployment'),
    ...validateStrategy(spec.strategy),
    ...validateNonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
    ...validateNonNegative(spec.progressDeadlineSeconds, 'spec.progressDeadlineSeconds'),
  ];
  if (
    spec.progressDeadlineSeconds !== undefined &&
    spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)
  ) {
    const detail = 'must be greater than minReadySeconds';
    errors.push(invalidValue('spec.progressDeadlineSeconds', spec.progressDeadlineSeconds, detail));
  }
  return errors;
}

/** Returns all errors of a ReplicaSet with defaults. */
export function validateReplicaSet(replicaSet: ReplicaSet): FieldError[] {
  return validateWorkload(replicaSet, 'replicaset');
}

const COUNTERS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'updatedReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'observedGeneration',
] as const;

type Counters = { status?: Partial<Record<(typeof COUNTERS)[number] | 'collisionCount', number>> };

/** Counters must not be negative nor contradict each other, and collisionCount must not decrease. */
export function validateWorkloadStatus({ status = {} }: Counters, current: Counters): FieldError[] {
  const errors = validateCounters(COUNTERS, status, current.status);
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  for (const key of [
    'fullyLabeledReplicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
  ] as const) {
    const value = status[key] ?? 0;
    if (value > replicas) {
      errors.push(invalidValue(`status.${key}`, value, 'cannot be greater than status.replicas'));
    }
  }
  if (availableReplicas > readyReplicas) {
    const detail = 'cannot be greater than readyReplicas';
    errors.push(invalidValue('status.availableReplicas', availableReplicas, detail));
  }
  return errors;
}
