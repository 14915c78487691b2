/**
 * The resource `hosts` of `fleet.everynode.dev/v1`, for the console's map and `kubectl get hosts`. Computed and
 * read-only. A watch always starts with all hosts and a bookmark and ignores resourceVersion, because computed
 * objects have no history. `troubled=true` leaves out the hosts that need no operator.
 */

import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { isTroubledHost } from '../../../shared/kube/fleet/troubled-host.js';
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE, wideColumn } from '../../kinds/table-column.js';
import type { DiscoveredResource } from '../discovery/discovery-documents.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import type { MetaVersion } from '../http/media-type.js';
import { methodNotAllowed } from '../http/status-response.js';
import { computedTable, tableVersion } from './computed-table.js';
import { type ObjectLineEncoder, objectLine } from './computed-watch.js';
import { deletedHost, hostLine, watchHosts } from './host-watch.js';
import { visibleHosts } from './visible-hosts.js';

const API_VERSION = `${FLEET_GROUP}/v1`;

export const HOST_RESOURCE: DiscoveredResource = {
  ...computedResource('Host', 'hosts', ['get', 'list', 'watch']),
  subresources: {
    jobs: { group: FLEET_GROUP, version: 'v1', kind: 'JobsOfHost', verbs: ['get'] },
    meters: { group: FLEET_GROUP, version: 'v1', kind: 'HostMeters', verbs: ['get'] },
    readings: { group: FLEET_GROUP, version: 'v1', kind: 'HostReadings', verbs: ['get'] },
  },
};

const COLUMNS = [
  NAME_COLUMN,
  column<Host>('State', 'string', 'Connection and readiness of the host.', stateText),
  column<Host>('Pods', 'string', 'Ready Pods and all Pods of the host.', podsText),
  column<Host>('Trouble', 'string', 'The most important problem of the host.', troubleText),
  AGE_COLUMN,
  wideColumn<Host>('Version', 'string', 'Version of the agent.', ({ status }) => status.agentVersion || NONE),
];

function stateText({ status }: Host): string {
  return status.unschedulable ? `${status.state},SchedulingDisabled` : status.state;
}

function podsText({ status: { pods } }: Host): string {
  return `${pods.ready}/${pods.total}`;
}

function troubleText({ status }: Host): string {
  const [failing] = status.failing;
  if (failing) return `${failing.name}: ${failing.message}`;
  return status.pressures[0] ?? status.message ?? status.clockSkew ?? NONE;
}

/** Handles `get`, `list` and `watch`. Throws 404, 405. */
export async function handleHosts(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { verb, name } = request.info;
  if (verb === 'watch') {
    const version = tableVersion(request);
    return watchHosts(deps, request, version ? tableLine(deps, version) : hostLine, onlyTroubled(request));
  }
  if (verb === 'get' && name !== undefined) return oneHost(deps, request, name);
  if (verb === 'list') return allHosts(deps, request);
  throw methodNotAllowed();
}

async function oneHost(deps: ApiDeps, request: ApiRequest, name: string): Promise<ApiResponse> {
  const found = await deps.hosts.get(name);
  if (!found) throw hostNotFound(name);
  const host = visibleHosts(deps, request).hostFor(found);
  const version = tableVersion(request);
  return ok(version ? computedTable(COLUMNS, [host], deps.clock.now(), version) : host);
}

async function allHosts(deps: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { hostFor } = visibleHosts(deps, request);
  const all = await deps.hosts.list();
  const now = deps.clock.now();
  const hosts = (onlyTroubled(request) ? all.filter((host) => isTroubledHost(host, now)) : all).map(hostFor);
  const version = tableVersion(request);
  if (version) return ok(computedTable(COLUMNS, hosts, deps.clock.now(), version));
  const pieces = function* () {
    yield `{"kind":"HostList","apiVersion":"${API_VERSION}","metadata":{},"items":[`;
    for (const [index, host] of hosts.entries()) yield `${index > 0 ? ',' : ''}${JSON.stringify(host)}`;
    yield ']}';
  };
  return { type: 'pieces', pieces: pieces() };
}

/** `troubled=true` limits a list or watch to the hosts that need an operator. Throws ApiError for another value. */
function onlyTroubled({ info: { query } }: ApiRequest): boolean {
  const asked = query.get('troubled') ?? 'false';
  if (asked !== 'true' && asked !== 'false') throw badRequest(`troubled: "${asked}" must be true or false`);
  return asked === 'true';
}

function tableLine({ clock }: ApiDeps, version: MetaVersion): ObjectLineEncoder {
  return (type, { name, json }) => {
    const host = json === undefined ? deletedHost(name) : (JSON.parse(json) as Host);
    return objectLine(type, JSON.stringify(computedTable(COLUMNS, [host], clock.now(), version)));
  };
}

/** Returns 404 with the message of a stored kind. */
export function hostNotFound(name: string): ApiError {
  const details = { group: FLEET_GROUP, kind: 'hosts', name };
  return new ApiError('NotFound', `hosts.${FLEET_GROUP} "${name}" not found`, details);
}
