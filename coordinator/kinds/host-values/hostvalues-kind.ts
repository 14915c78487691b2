/** fleet.everynode.dev/v1 HostValues. */
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { dropPastSpecs, recordFirstSpec, recordSpecChange } from '../record-spec-change.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, NONE } from '../table-column.js';
import { validateHostValues } from './hostvalues-validation.js';

function keysOf({ spec }: HostValues): string {
  const named = Object.values(spec.hosts ?? {}).flatMap((values) => Object.keys(values));
  const keys = [...Object.keys(spec.values ?? {}), ...Object.keys(spec.secrets ?? {}), ...named];
  return [...new Set(keys)].sort().join(',');
}

/** `<none>`: the object has values of named hosts only. */
function selectorText({ spec: { values, secrets, nodeSelector } }: HostValues): string {
  if (!values && !secrets) return NONE;
  const { matchLabels = {}, matchExpressions = [] } = nodeSelector ?? {};
  if (matchExpressions.length > 0) return '<expression>';
  return Object.keys(matchLabels).length > 0 ? labelsText(matchLabels) : 'all hosts';
}

export const hostValuesKind: Kind<HostValues> = {
  group: FLEET_GROUP,
  version: 'v1',
  kind: 'HostValues',
  resource: 'hostvalues',
  singular: 'hostvalues',
  shortNames: ['hv'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'dev.everynode.fleet.v1.HostValues',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('Priority', 'integer', 'Rank among objects with the same key.', ({ spec }) => spec.priority ?? 0),
    column('Selector', 'string', 'Hosts for the values; named hosts not included.', selectorText),
    column(
      'Hosts',
      'integer',
      'Number of hosts with values of their own.',
      ({ spec }) => Object.keys(spec.hosts ?? {}).length,
    ),
    column('Keys', 'string', 'Keys of all values.', (object) => keysOf(object) || NONE),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  hasOwnStatus: true,
  sharesUnchangedParts: true,
  prepareForCreate: recordFirstSpec,
  prepareForUpdate: recordSpecChange,
  shrink: dropPastSpecs,
  validate: validateHostValues,
  validateUpdate: () => [],
  warnings: () => [],
};
