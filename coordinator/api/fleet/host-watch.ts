/** The watch of hosts: JSON lines from the host index. */
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { ApiDeps, ApiRequest, ApiResponse } from '../http/api-context.js';
import type { HostText, ObjectText } from '../ports.js';
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

/** Starts with all hosts, or all that need an operator, and a bookmark. Ends when the client disconnects or the timeout has passed. */
export async function watchHosts(
  deps: ApiDeps,
  request: ApiRequest,
  lineOf: ObjectLineEncoder,
  onlyTroubled: boolean,
): Promise<ApiResponse> {
  const { textFor } = visibleHosts(deps, request);
  return watchComputed(deps, request, {
    kind: 'Host',
    subscribe: (onChange) => (onlyTroubled ? watchTroubled(deps, onChange) : deps.hosts.watch(onChange)),
    lineOf: (type, text) => lineOf(type, textFor(text)),
  });
}

/** A host without trouble counts as deleted. Each change costs the same for one host, however large the fleet is. */
async function watchTroubled(
  { hosts }: Pick<ApiDeps, 'hosts'>,
  onChange: (changed: readonly ObjectText[]) => void,
): Promise<{ first: ObjectText[]; leave: () => void }> {
  const shown = ({ name, json, isTroubled }: HostText) => ({ name, json: isTroubled ? json : undefined });
  const { first, leave } = await hosts.watch((changed) => onChange(changed.map(shown)));
  return { first: first.filter(({ isTroubled }) => isTroubled), leave };
}
