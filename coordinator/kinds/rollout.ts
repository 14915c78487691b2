/** fleet.everynode.dev/v1 Rollout: written by the controller, annotated by those who approve. */
import { FLEET_GROUP, type Rollout } from '../../shared/kube/rollout.js';
import type { Kind } from './kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, wideColumn } from './table-column.js';
import { STANDARD_VERBS, STATUS_VERBS } from './verbs.js';

export const rolloutKind: Kind<Rollout> = {
  group: FLEET_GROUP,
  version: 'v1',
  kind: 'Rollout',
  resource: 'rollouts',
  singular: 'rollout',
  shortNames: ['ro'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'dev.everynode.fleet.v1.Rollout',
  subresources: { status: { group: FLEET_GROUP, version: 'v1', kind: 'Rollout', verbs: STATUS_VERBS } },
  columns: [
    NAME_COLUMN,
    column('Phase', 'string', 'How it stands.', ({ status }) => status?.phase ?? ''),
    column('Wave', 'string', 'The last wave that is open.', ({ status }) => status?.wave ?? ''),
    column('Nodes', 'integer', 'Eligible nodes.', ({ status }) => status?.nodes ?? 0),
    column('Updated', 'integer', 'Nodes that are updated and well.', ({ status }) => status?.updated ?? 0),
    column(
      'Failed',
      'integer',
      'Nodes that were updated and are not well.',
      ({ status }) => status?.failed ?? 0,
    ),
    column(
      'Deferred',
      'integer',
      'Nodes out of contact since before their turn.',
      ({ status }) => status?.deferred ?? 0,
    ),
    AGE_COLUMN,
    wideColumn(
      'Revision',
      'string',
      'Hash of the revision on its way.',
      ({ status }) => status?.revision ?? '',
    ),
    wideColumn('Policy', 'string', 'The policy that governs it.', ({ status }) => status?.policy ?? ''),
    wideColumn('Message', 'string', 'The phase in words.', ({ status }) => status?.message ?? ''),
  ],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate: (rollout) => {
    delete rollout.status;
  },
  prepareForUpdate: (next, current) => {
    if (current.status) next.status = current.status;
    else delete next.status;
  },
  prepareForStatusUpdate: () => undefined,
  validate: () => [],
  validateUpdate: () => [],
  validateStatusUpdate: () => [],
  warnings: () => [],
};
