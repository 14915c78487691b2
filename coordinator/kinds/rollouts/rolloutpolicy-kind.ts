/** fleet.everynode.dev/v1 RolloutPolicy. */
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import {
  REST_WAVE,
  type RolloutPolicy,
  type RolloutPolicySpec,
} from '../../../shared/kube/rollouts/rollout-policy-types.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { validateRolloutPolicy } from './rolloutpolicy-validation.js';

const waveNamesOf = ({ spec }: RolloutPolicy) => (spec.waves ?? []).map(({ name }) => name).join(',');

const holdOf = ({ paused, frozen }: RolloutPolicySpec) => (frozen ? 'Frozen' : paused ? 'Paused' : NONE);

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
  subresources: {
    calendar: { group: FLEET_GROUP, version: 'v1', kind: 'ChangeCalendar', verbs: ['get'] },
  },
  columns: [
    NAME_COLUMN,
    column('Waves', 'string', 'Names of the waves in order.', (policy) => waveNamesOf(policy) || REST_WAVE),
    column('Max Failed', 'string', 'Maximum number of failed hosts.', ({ spec }) =>
      spec.failureBudget ? String(spec.failureBudget.maxFailed ?? 0) : NONE,
    ),
    column('Held', 'string', 'Whether the policy pauses or freezes rollouts.', ({ spec }) => holdOf(spec)),
    column('Windows', 'integer', 'Number of maintenance windows.', ({ spec }) => spec.windows?.length ?? 0),
    AGE_COLUMN,
    wideColumn('Selector', 'string', 'DaemonSets that it applies to.', ({ spec }) =>
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
  validate: validateRolloutPolicy,
  validateUpdate: () => [],
  warnings: () => [],
};
