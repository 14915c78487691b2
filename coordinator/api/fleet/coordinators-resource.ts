/**
 * The resource `coordinators` of `fleet.everynode.dev/v1`, for the console and `kubectl get coordinators`. Computed. `delete`
 * removes a member. A single coordinator is one object without etcd.
 */
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE, UNKNOWN, wideColumn } from '../../kinds/table-column.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import type { MetaVersion } from '../http/media-type.js';
import { methodNotAllowed } from '../http/status-response.js';
import type { ObjectText } from '../ports.js';
import { computedTable, tableVersion } from './computed-table.js';
import { type ObjectLineEncoder, objectLine, watchComputed } from './computed-watch.js';
import { removeCoordinator } from './coordinator-actions.js';
import { findCoordinator, listCoordinators } from './list-coordinators.js';

const API_VERSION = `${FLEET_GROUP}/v1`;
const WATCH_INTERVAL_MS = 2_000;

export const COORDINATOR_RESOURCE: DiscoveredResource = {
  ...computedResource('Coordinator', 'coordinators', ['delete', 'get', 'list', 'watch']),
  subresources: {
    stepdown: { group: FLEET_GROUP, version: 'v1', kind: 'Coordinator', verbs: ['create'] },
  },
};

const COLUMNS = [
  NAME_COLUMN,
  column<Coordinator>('Role', 'string', 'Leader, Follower, Impeded or Down.', ({ status }) => status.role),
  column<Coordinator>('Lag', 'string', 'Log records that its database lacks.', lagText),
  column<Coordinator>('Version', 'string', 'Version of the coordinator.', versionText),
  column<Coordinator>('Server', 'string', 'Address for kubectl and agents.', ({ spec }) => spec.server),
  AGE_COLUMN,
  wideColumn<Coordinator>('Term', 'string', 'Term of the leader.', ({ status }) => `${status.term ?? NONE}`),
  wideColumn<Coordinator>('Clock', 'string', "Difference to the leader's clock.", clockText),
  wideColumn<Coordinator>('Problem', 'string', 'The most severe problem.', problemText),
];

function lagText({ status: { lagRecords } }: Coordinator): string {
  return `${lagRecords ?? UNKNOWN}`;
}

function versionText({ status: { version } }: Coordinator): string {
  return version ?? UNKNOWN;
}

function clockText({ status: { clockSkewSeconds: seconds } }: Coordinator): string {
  if (seconds === undefined) return UNKNOWN;
  return seconds === 0 ? 'ok' : `${seconds > 0 ? '+' : ''}${seconds}s`;
}

function problemText({ status: { problems } }: Coordinator): string {
  return problems[0]?.message ?? NONE;
}

/** Handles `get`, `list` and `watch`. Throws 404, 405, and 503 while the coordinators are not known. */
export async function handleCoordinators(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { verb, name } = request.info;
  if (verb === 'watch') return watchCoordinators(deps, request);
  if (verb === 'delete') return removeCoordinator(deps, await findCoordinator(deps, name));
  const now = deps.clock.now();
  const version = tableVersion(request);
  if (verb === 'get') {
    const found = await findCoordinator(deps, name);
    return ok(version ? computedTable(COLUMNS, [found], now, version) : found);
  }
  if (verb !== 'list') throw methodNotAllowed();
  const coordinators = await listCoordinators(deps);
  if (version) return ok(computedTable(COLUMNS, coordinators, now, version));
  return ok({ kind: 'CoordinatorList', apiVersion: API_VERSION, metadata: {}, items: coordinators });
}

async function watchCoordinators(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const version = tableVersion(request);
  return watchComputed(deps, request, {
    kind: 'Coordinator',
    subscribe: (onChange) => subscribe(deps, onChange),
    lineOf: version ? tableLine(deps, version) : coordinatorLine,
  });
}

const coordinatorLine: ObjectLineEncoder = (type, { name, json }) =>
  objectLine(type, json ?? JSON.stringify(deletedCoordinator(name)));

function tableLine({ clock }: ApiDeps, version: MetaVersion): ObjectLineEncoder {
  return (type, { name, json }) => {
    const object = json === undefined ? deletedCoordinator(name) : (JSON.parse(json) as Coordinator);
    return objectLine(type, JSON.stringify(computedTable(COLUMNS, [object], clock.now(), version)));
  };
}

function deletedCoordinator(name: string): Coordinator {
  return {
    ...{ kind: 'Coordinator', apiVersion: API_VERSION, metadata: { name }, spec: { server: '' } },
    status: { role: 'Down', problems: [], conditions: [] },
  };
}

/** Reads the coordinators at each interval while a client watches, and reports those that changed. */
async function subscribe(
  deps: ApiDeps,
  onChange: (changed: readonly ObjectText[]) => void,
): Promise<{ first: ObjectText[]; leave: () => void }> {
  const sent = new Map<string, string>();
  const changes = async (): Promise<ObjectText[]> => {
    const texts = (await listCoordinators(deps)).map((each) => ({
      name: each.metadata.name,
      json: JSON.stringify(each),
    }));
    const names = new Set(texts.map(({ name }) => name));
    const deleted = [...sent.keys()].filter((name) => !names.has(name));
    const changed = texts.filter(({ name, json }) => sent.get(name) !== json);
    for (const { name, json } of changed) sent.set(name, json);
    for (const name of deleted) sent.delete(name);
    return [...changed, ...deleted.map((name) => ({ name, json: undefined }))];
  };
  const first = await changes();
  let hasLeft = false;
  const poll = () =>
    deps.clock.after(WATCH_INTERVAL_MS, async () => {
      // The next read repeats what a failed one has missed.
      const changed = await changes().catch(() => []);
      if (hasLeft) return;
      if (changed.length > 0) onChange(changed);
      timer = poll();
    });
  let timer = poll();
  const leave = () => {
    hasLeft = true;
    timer.cancel();
  };
  return { first, leave };
}
