/** fleet.everynode.dev/v1 RolloutPolicy. */
import type { IntOrString } from '../../shared/kube/int-or-string.js';
import { FLEET_GROUP, REST_WAVE, type RolloutPolicy, type RolloutWave } from '../../shared/kube/rollout.js';
import { duplicate, invalidValue, notSupported, required } from './field-error.js';
import type { FieldError, Kind } from './kind.js';
import { validateLabelSelector } from './label-selector.js';
import { dnsLabelProblems, percentProblems } from './name-rules.js';
import { invalidFor } from './object-meta.js';
import { validateNonNegative } from './pod-spec-validation/numbers.js';
import { semanticallyEqual } from './semantic-equality.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, NONE, wideColumn } from './table-column.js';
import { STANDARD_VERBS } from './verbs.js';

const APPROVALS = ['Automatic', 'Manual'];
const ACTIONS = ['Pause', 'RollBack'];

/** A number of at least 0, or a percentage of at most 100. */
function validateAmount(value: IntOrString | undefined, field: string): FieldError[] {
  if (typeof value !== 'string') return validateNonNegative(value, field);
  const problems = percentProblems(value);
  if (problems.length > 0) return invalidFor(field, value, problems);
  return Number.parseInt(value, 10) <= 100
    ? []
    : [invalidValue(field, value, 'must not be greater than 100%')];
}

function validateChoice(value: string | undefined, field: string, choices: readonly string[]): FieldError[] {
  return value === undefined || choices.includes(value) ? [] : [notSupported(field, value, choices)];
}

function validateWave(wave: RolloutWave, field: string): FieldError[] {
  const { name, maxUnavailable, approval } = wave;
  const isNone = maxUnavailable !== undefined && Number.parseInt(String(maxUnavailable), 10) === 0;
  return [
    ...(name ? invalidFor(`${field}.name`, name, dnsLabelProblems(name)) : [required(`${field}.name`)]),
    ...(name === REST_WAVE ? [invalidValue(`${field}.name`, name, 'is the name of what no wave takes')] : []),
    ...validateLabelSelector(wave.nodeSelector, `${field}.nodeSelector`),
    ...validateAmount(wave.nodes, `${field}.nodes`),
    ...validateAmount(maxUnavailable, `${field}.maxUnavailable`),
    ...(isNone ? [invalidValue(`${field}.maxUnavailable`, maxUnavailable, 'must be greater than 0')] : []),
    ...validateNonNegative(wave.soakSeconds, `${field}.soakSeconds`),
    ...validateChoice(approval, `${field}.approval`, APPROVALS),
  ];
}

function validate({ spec }: RolloutPolicy): FieldError[] {
  if (!spec) return [required('spec')];
  const waves = spec.waves ?? [];
  const twice = waves.flatMap(({ name }, index) =>
    waves.findIndex((wave) => wave.name === name) < index
      ? [duplicate(`spec.waves[${index}].name`, name)]
      : [],
  );
  return [
    ...(spec.selector ? validateLabelSelector(spec.selector, 'spec.selector') : [required('spec.selector')]),
    ...waves.flatMap((wave, index) => validateWave(wave, `spec.waves[${index}]`)),
    ...twice,
    ...validateAmount(spec.failureBudget?.maxFailed, 'spec.failureBudget.maxFailed'),
    ...validateChoice(spec.failureBudget?.action, 'spec.failureBudget.action', ACTIONS),
    ...validateNonNegative(
      spec.failureBudget?.progressDeadlineSeconds,
      'spec.failureBudget.progressDeadlineSeconds',
    ),
  ];
}

const waveNamesOf = ({ spec }: RolloutPolicy) => (spec.waves ?? []).map(({ name }) => name).join(',');

export const rolloutPolicyKind: Kind<RolloutPolicy> = {
  group: FLEET_GROUP,
  version: 'v1',
  kind: 'RolloutPolicy',
  resource: 'rolloutpolicies',
  singular: 'rolloutpolicy',
  shortNames: ['rop'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'dev.everynode.fleet.v1.RolloutPolicy',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('Waves', 'string', 'Names of the waves, in order.', (policy) => waveNamesOf(policy) || REST_WAVE),
    column('Max Failed', 'string', 'Hosts that may fail.', ({ spec }) =>
      spec.failureBudget ? String(spec.failureBudget.maxFailed ?? 0) : NONE,
    ),
    column('Paused', 'string', 'Whether nothing is replaced.', ({ spec }) => String(spec.paused === true)),
    AGE_COLUMN,
    wideColumn('Selector', 'string', 'Which DaemonSets it governs.', ({ spec }) =>
      labelsText(spec.selector.matchLabels),
    ),
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate: ({ metadata }) => {
    metadata.generation = 1;
  },
  prepareForUpdate: (next, current) => {
    const isChanged = !semanticallyEqual(next.spec, current.spec);
    next.metadata.generation = (current.metadata.generation ?? 0) + (isChanged ? 1 : 0);
  },
  validate,
  validateUpdate: () => [],
  warnings: () => [],
};
