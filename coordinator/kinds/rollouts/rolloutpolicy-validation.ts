/** Validation of a RolloutPolicy: waves, failure budget, image prefetching and handovers. */
import type { IntOrString } from '../../../shared/kube/objects/meta.js';
import {
  type FailureBudget,
  REST_WAVE,
  type RolloutPolicy,
  type RolloutPolicySpec,
  type RolloutWave,
} from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { FieldError } from '../kind.js';
import { validateNonNegative, validatePositiveInt32 } from '../pods/spec-validation/value-validation.js';
import { duplicate, invalidValue, notSupported, required } from '../validation/field-error.js';
import { validateLabelSelector } from '../validation/label-selector-validation.js';
import { dnsLabelProblems, percentProblems, qualifiedNameProblems } from '../validation/name-rules.js';
import { invalidFor } from '../validation/object-meta-validation.js';
import { validateFreeze, validateWindow } from './maintenance-times-validation.js';

const APPROVALS = ['Automatic', 'Manual'];
const DRAWS = ['Same', 'Reshuffled'];
const ACTIONS = ['Pause', 'RollBack'];

/** Accepts an integer of at least 0, or a percentage of at most 100. */
function validateAmount(value: IntOrString | undefined, field: string): FieldError[] {
  if (typeof value !== 'string') return validateNonNegative(value, field);
  const problems = percentProblems(value);
  if (problems.length > 0) return invalidFor(field, value, problems);
  return Number.parseInt(value, 10) <= 100
    ? []
    : [invalidValue(field, value, 'must not be greater than 100%')];
}

/** Like `validateAmount`, without 0: the rollout would never finish. */
function validateSomeAmount(value: IntOrString | undefined, field: string): FieldError[] {
  const isNone = value !== undefined && Number.parseInt(String(value), 10) === 0;
  return [
    ...validateAmount(value, field),
    ...(isNone ? [invalidValue(field, value, 'must be greater than 0')] : []),
  ];
}

function validateChoice(value: string | undefined, field: string, choices: readonly string[]): FieldError[] {
  return value === undefined || choices.includes(value) ? [] : [notSupported(field, value, choices)];
}

function validateWave(wave: RolloutWave, field: string): FieldError[] {
  const { name } = wave;
  return [
    ...(name ? invalidFor(`${field}.name`, name, dnsLabelProblems(name)) : [required(`${field}.name`)]),
    ...(name === REST_WAVE
      ? [invalidValue(`${field}.name`, name, 'is reserved for nodes that no wave selects')]
      : []),
    ...validateLabelSelector(wave.nodeSelector, `${field}.nodeSelector`),
    ...validateAmount(wave.nodes, `${field}.nodes`),
    ...validateSomeAmount(wave.maxUnavailable, `${field}.maxUnavailable`),
    ...validateAmount(wave.maxFailed, `${field}.maxFailed`),
    ...validateNonNegative(wave.soakSeconds, `${field}.soakSeconds`),
    ...validateChoice(wave.approval, `${field}.approval`, APPROVALS),
    ...validateChoice(wave.draw, `${field}.draw`, DRAWS),
  ];
}

function validateWaves({ waves = [], failureBudget }: RolloutPolicySpec): FieldError[] {
  const twice = waves.flatMap(({ name }, index) =>
    waves.findIndex((wave) => wave.name === name) < index
      ? [duplicate(`spec.waves[${index}].name`, name)]
      : [],
  );
  const unpaid = waves.flatMap(({ maxFailed }, index) =>
    maxFailed !== undefined && !failureBudget
      ? [
          invalidValue(
            `spec.waves[${index}].maxFailed`,
            maxFailed,
            'without spec.failureBudget no host ever counts as failed',
          ),
        ]
      : [],
  );
  return [...waves.flatMap((wave, index) => validateWave(wave, `spec.waves[${index}]`)), ...twice, ...unpaid];
}

function validateBudget(budget: FailureBudget | undefined, field: string): FieldError[] {
  return [
    ...validateAmount(budget?.maxFailed, `${field}.maxFailed`),
    ...validatePositiveInt32(budget?.withinSeconds, `${field}.withinSeconds`),
    ...validateChoice(budget?.action, `${field}.action`, ACTIONS),
    ...validateNonNegative(budget?.progressDeadlineSeconds, `${field}.progressDeadlineSeconds`),
  ];
}

function validateHosts({
  spreadBy,
  catchUp,
  prePull,
  confirm,
  updateLock,
  rolloutHistoryLimit,
}: RolloutPolicySpec): FieldError[] {
  return [
    ...(spreadBy === undefined ? [] : invalidFor('spec.spreadBy', spreadBy, qualifiedNameProblems(spreadBy))),
    ...validateSomeAmount(catchUp?.maxParallel, 'spec.catchUp.maxParallel'),
    ...validateNonNegative(prePull?.aheadSeconds, 'spec.prePull.aheadSeconds'),
    ...validateSomeAmount(prePull?.maxParallel, 'spec.prePull.maxParallel'),
    ...validatePositiveInt32(prePull?.bytesPerSecond, 'spec.prePull.bytesPerSecond'),
    ...validatePositiveInt32(prePull?.perSite?.maxParallel, 'spec.prePull.perSite.maxParallel'),
    ...validatePositiveInt32(prePull?.perSite?.bytesPerSecond, 'spec.prePull.perSite.bytesPerSecond'),
    ...(prePull?.perSite && spreadBy === undefined ? [required('spec.spreadBy')] : []),
    ...validatePositiveInt32(confirm?.deadlineSeconds, 'spec.confirm.deadlineSeconds'),
    ...validatePositiveInt32(updateLock?.maxSeconds, 'spec.updateLock.maxSeconds'),
    ...validateNonNegative(rolloutHistoryLimit, 'spec.rolloutHistoryLimit'),
  ];
}

/** Returns all errors of a policy. */
export function validateRolloutPolicy({ spec }: RolloutPolicy): FieldError[] {
  if (!spec) return [required('spec')];
  return [
    ...(spec.selector ? validateLabelSelector(spec.selector, 'spec.selector') : [required('spec.selector')]),
    ...validateWaves(spec),
    ...validateBudget(spec.failureBudget, 'spec.failureBudget'),
    ...(spec.windows ?? []).flatMap((window, index) => validateWindow(window, `spec.windows[${index}]`)),
    ...(spec.freezes ?? []).flatMap((freeze, index) => validateFreeze(freeze, `spec.freezes[${index}]`)),
    ...validateHosts(spec),
  ];
}
