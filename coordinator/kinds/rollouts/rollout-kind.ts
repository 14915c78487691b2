/** fleet.everynode.dev/v1 Rollout: the controller writes it, users steer it with annotations. */
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { Rollout } from '../../../shared/kube/rollouts/rollout-types.js';
import { durationText } from '../duration-text.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS, STATUS_VERBS } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { semanticallyEqual } from '../validation/semantic-equality.js';
import { applySteeringAnnotations, validateNewRequests } from './rollout-requests.js';
import { steeringWarnings } from './steering-warnings.js';

/** Codes of finished nodes, and codes that other columns count. */
const COUNTED_ELSEWHERE: ReadonlySet<string> = new Set([
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
    .filter(([code]) => !COUNTED_ELSEWHERE.has(code))
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
    column('Phase', 'string', 'Current phase.', ({ status }) => status?.phase ?? ''),
    column('Wave', 'string', 'The last open wave.', ({ status }) => status?.wave ?? ''),
    column('Nodes', 'integer', 'Eligible nodes.', ({ status }) => status?.nodes ?? 0),
    column('Updated', 'integer', 'Nodes that are updated and healthy.', ({ status }) => status?.updated ?? 0),
    column('Failed', 'integer', 'Nodes that are updated and failed.', ({ status }) => status?.failed ?? 0),
    column(
      'Deferred',
      'integer',
      'Offline nodes that will update when they reconnect.',
      ({ status }) => status?.deferred ?? 0,
    ),
    AGE_COLUMN,
    wideColumn('In Progress', 'integer', 'Nodes whose Pod is being replaced.', ({ status }) =>
      (status?.waves ?? []).reduce((sum, { inProgress = 0 }) => sum + inProgress, 0),
    ),
    wideColumn(
      'Waiting',
      'string',
      'Reason codes of the other nodes.',
      ({ status }) => waitingText(status?.codes) || NONE,
    ),
    wideColumn('Estimated End', 'string', 'Estimated end.', ({ status }) => status?.estimatedEndTime ?? NONE),
    wideColumn(
      'Revision',
      'string',
      'Hash of the revision that is rolled out.',
      ({ status }) => status?.revision ?? '',
    ),
    wideColumn('Started', 'string', 'Start time.', ({ status }) => status?.startTime ?? NONE),
    wideColumn('Duration', 'string', 'Time from start to end.', ({ status }) => durationOf(status)),
    wideColumn('Policy', 'string', 'The RolloutPolicy that applies.', ({ status }) => status?.policy ?? ''),
    wideColumn('Message', 'string', 'Description of the phase.', ({ status }) => status?.message ?? ''),
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate: (rollout) => {
    delete rollout.spec;
    delete rollout.status;
    rollout.metadata.generation = 1;
  },
  prepareForUpdate: (next, current, context) => {
    applySteeringAnnotations(next, current, context);
    const isChanged = !semanticallyEqual(next.spec, current.spec);
    next.metadata.generation = (current.metadata.generation ?? 0) + (isChanged ? 1 : 0);
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
