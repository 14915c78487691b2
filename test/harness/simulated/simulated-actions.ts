/** Actions on a simulated fleet, and queries of its state. */
import { parseCommand, performCommand } from '../../../agent/simulate/simulation-command.js';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { SimulatedFleet } from './simulated-fleet-fixture.js';

const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';

/** Runs a simulation command as typed by a user. Returns the number of selected hosts. */
export async function runCommand({ hosts }: SimulatedFleet, line: string): Promise<number> {
  const command = parseCommand(line);
  return command ? performCommand(command, hosts) : 0;
}

/** Creates a DaemonSet for all hosts. */
export async function applyEverywhere(
  { api }: Pick<SimulatedFleet, 'api'>,
  name: string,
  annotations: Record<string, string> = {},
): Promise<void> {
  const labels = { app: name };
  const spec = { containers: [{ name: 'main', image: 'app:1' }] };
  await api.request('POST', DAEMON_SETS, {
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels, annotations }, spec } },
  });
}

export async function numberReady(
  { api }: Pick<SimulatedFleet, 'api'>,
  name: string,
): Promise<number | undefined> {
  return (await api.request<DaemonSet>('GET', `${DAEMON_SETS}/${name}`)).status?.numberReady;
}

/** Returns the status of a node's condition. */
export async function conditionOf(
  { api }: Pick<SimulatedFleet, 'api'>,
  node: string,
  type: string,
): Promise<string | undefined> {
  const { status } = await api.request<Node>('GET', `/api/v1/nodes/${node}`);
  return findCondition(status?.conditions, type)?.status;
}
