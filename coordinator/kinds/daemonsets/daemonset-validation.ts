/** Validation of DaemonSets (`pkg/apis/apps/validation/validation.go`, `pkg/registry/apps/daemonset/strategy.go`). */

import type {
  DaemonSet,
  DaemonSetSpec,
  DaemonSetUpdateStrategy,
  RollingUpdateDaemonSet,
} from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { IntOrString } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import { validateResourceValues } from '../host-values/resource-values-validation.js';
import type { FieldError } from '../kind.js';
import { validatePodTemplate } from '../pods/spec-validation/pod-spec-validation.js';
import { validateNonNegative } from '../pods/spec-validation/value-validation.js';
import { invalidValue, notSupported, required } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import { percentProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';
import { validateCounters, validateTemplateUse } from '../validation/workload-rules.js';

const STRATEGIES = ['RollingUpdate', 'OnDelete'];

/** Returns 25 for `25%`, or undefined if the value is not a percentage. */
function percentOf(value: IntOrString | undefined): number | undefined {
  if (typeof value !== 'string' || percentProblems(value).length > 0) return undefined;
  return Number.parseInt(value, 10);
}

/** Returns the number that upstream compares: text that is not a number counts as 0. */
function worth(value: IntOrString | undefined): number {
  const text = String(value ?? 0);
  return percentOf(value) ?? (/^[+-]?\d+$/.test(text) ? Number(text) : 0);
}

/** Accepts an integer of at least 0, or a percentage. */
export function validateIntOrPercent(value: IntOrString | undefined, field: string): FieldError[] {
  if (typeof value === 'string') return invalidFor(field, value, percentProblems(value));
  return validateNonNegative(value, field);
}

export function validateAtMostAll(value: IntOrString | undefined, field: string): FieldError[] {
  if ((percentOf(value) ?? 0) <= 100) return [];
  return [invalidValue(field, value, 'must not be greater than 100%')];
}

function validateRollingUpdate(parameters: RollingUpdateDaemonSet, field: string): FieldError[] {
  const { maxUnavailable, maxSurge } = parameters;
  const unavailableField = `${field}.maxUnavailable`;
  const surgeField = `${field}.maxSurge`;
  const errors = [
    ...validateIntOrPercent(maxUnavailable, unavailableField),
    ...validateIntOrPercent(maxSurge, surgeField),
    ...validateAtMostAll(maxUnavailable, unavailableField),
    ...validateAtMostAll(maxSurge, surgeField),
  ];
  if (worth(maxUnavailable) !== 0 && worth(maxSurge) !== 0) {
    errors.push(invalidValue(surgeField, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
  if (worth(maxUnavailable) === 0 && worth(maxSurge) === 0) {
    errors.push(required(unavailableField, 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}

/** OnDelete may keep parameters that it does not use. */
function validateStrategy(strategy: DaemonSetUpdateStrategy | undefined, field: string): FieldError[] {
  if (strategy?.type === 'OnDelete') return [];
  if (strategy?.type !== 'RollingUpdate') return [notSupported(field, strategy?.type ?? '', STRATEGIES)];
  if (!strategy.rollingUpdate) return [required(`${field}.rollingUpdate`)];
  return validateRollingUpdate(strategy.rollingUpdate, `${field}.rollingUpdate`);
}

/** An invalid selector is not compared with the template. */
function validateSelector({ selector, template }: DaemonSetSpec): FieldError[] {
  const errors = validateLabelSelector(selector, 'spec.selector');
  const labels = template.metadata?.labels;
  const matches = selector !== undefined && compileLabelSelector(selector).matches(labels);
  if (errors.length === 0 && !matches) {
    const detail = '`selector` does not match template `labels`';
    errors.push(invalidValue('spec.template.metadata.labels', labels, detail));
  }
  const terms = Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions ?? []).length;
  if (selector && terms === 0) {
    errors.push(invalidValue('spec.selector', selector, 'empty selector is invalid for daemonset'));
  }
  return errors;
}

/** Returns all errors of a DaemonSet with defaults. */
export function validateDaemonSet({ spec }: DaemonSet): FieldError[] {
  return [
    ...validateSelector(spec),
    ...validatePodTemplate(spec.template, 'spec.template'),
    ...validateTemplateUse(spec.template, 'DaemonSet'),
    ...validateResourceValues(spec.template, 'spec.template'),
    ...validateNonNegative(spec.minReadySeconds, 'spec.minReadySeconds'),
    ...validateStrategy(spec.updateStrategy, 'spec.updateStrategy'),
    ...validateNonNegative(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
  ];
}

const COUNTERS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
] as const;

/** Returns the errors of a status write. */
export function validateDaemonSetStatus(next: DaemonSet, current: DaemonSet): FieldError[] {
  return validateCounters(COUNTERS, next.status, current.status);
}
