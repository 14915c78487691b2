/** The watch of hosts: JSON lines from the host index. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import { type ObjectLineEncoder, objectLine, watchComputed } from './computed-watch.js';
import { visibleHosts } from './visible-hosts.js';

const API_VERSION = `${FLEET_GROUP}/v1`;

export const hostLine: ObjectLineEncoder = (type, { name, json }) =>
  objectLine(type, json ?? JSON.stringify(deletedHost(name)));

export function deletedHost(name: string): Host {
  const status = {
    state: 'Unknown' as const,
    pressures: [],
    unschedulable: false,
    taints: 0,
    agentVersion: '',
  };
  return {
    ...{ kind: 'Host', apiVersion: API_VERSION, metadata: { name } },
    status: { ...status, pods: { total: 0, ready: 0, failing: 0 }, failing: [] },
  };
}

/** Starts with all hosts and a bookmark. Ends when the client disconnects or the timeout has passed. */
export async function watchHosts(
  deps: ApiDeps,
  request: ApiRequest,
  lineOf: ObjectLineEncoder,
): Promise<ApiResponse> {
  const { textFor } = visibleHosts(deps, request);
  return watchComputed(deps, request, {
    kind: 'Host',
    subscribe: (onChange) => deps.hosts.watch(onChange),
    lineOf: (type, text) => lineOf(type, textFor(text)),
  });
}
