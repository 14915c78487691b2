/** fleet.everynode.dev/v1 Rollout: written by the controller, annotated by those who steer it. */
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { durationText } from '../duration-text.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../standard-verbs.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { applySteeringAnnotations, validateNewRequests } from './rollout-requests.js';
import { steeringWarnings } from './steering-warnings.js';

/** Codes of nodes that are done, or that other columns count. */
const TOLD_ELSEWHERE: ReadonlySet<string> = new Set([
  'Updated',
  'Soaking',
  'Updating',
  'RollingBack',
  'Failed',
  'DeferredOffline',
  'NotEligible',
]);

function waitingText(codes: Record<string, number> = {}): string {
  return Object.entries(codes)
    .filter(([code]) => !TOLD_ELSEWHERE.has(code))
    .map(([code, count]) => `${code}=${count}`)
    .join(',');
}

function durationOf(status: Rollout['status']): string {
  const { startTime, endTime } = status ?? {};
  if (!startTime || !endTime) return NONE;
  return durationText(Date.parse(endTime) - Date.parse(startTime));
}

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
  subresources: {
    hosts: { group: FLEET_GROUP, version: 'v1', kind: 'RolloutHosts', verbs: ['get'] },
    status: { group: FLEET_GROUP, version: 'v1', kind: 'Rollout', verbs: STATUS_VERBS },
  },
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
    wideColumn('In Progress', 'integer', 'Nodes whose pod is being replaced.', ({ status }) =>
      (status?.waves ?? []).reduce((sum, { inProgress = 0 }) => sum + inProgress, 0),
    ),
    wideColumn(
      'Waiting',
      'string',
      'What the other nodes wait for, by reason code.',
      ({ status }) => waitingText(status?.codes) || NONE,
    ),
    wideColumn(
      'Estimated End',
      'string',
      'When it will have ended.',
      ({ status }) => status?.estimatedEndTime ?? NONE,
    ),
    wideColumn(
      'Revision',
      'string',
      'Hash of the revision on its way.',
      ({ status }) => status?.revision ?? '',
    ),
    wideColumn('Started', 'string', 'When it began.', ({ status }) => status?.startTime ?? NONE),
    wideColumn('Duration', 'string', 'From its beginning to its end.', ({ status }) => durationOf(status)),
    wideColumn('Policy', 'string', 'The policy that governs it.', ({ status }) => status?.policy ?? ''),
    wideColumn('Message', 'string', 'The phase in words.', ({ status }) => status?.message ?? ''),
  ],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate: (rollout) => {
    delete rollout.spec;
    delete rollout.status;
  },
  prepareForUpdate: (next, current, context) => {
    applySteeringAnnotations(next, current, context);
    if (current.status) next.status = current.status;
    else delete next.status;
  },
  prepareForStatusUpdate: (next, current) => {
    if (current.spec) next.spec = current.spec;
    else delete next.spec;
  },
  validate: () => [],
  validateUpdate: validateNewRequests,
  validateStatusUpdate: () => [],
  warnings: steeringWarnings,
};
