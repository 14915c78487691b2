/**
 * Time until a lost host is shown as disconnected, in a fleet of any size: with a closed connection, and with a silent
 * one.
 */
import assert from 'node:assert/strict';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import type { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { until } from '../../harness/basics/wait-until.js';
import type { HollowFleet } from '../hollow/hollow-fleet.js';

const CLOSED_GOAL_MS = 50;
const SILENT_GOAL_MS = 16_000;
/** One after another; each host reconnects by itself. */
const CLOSED = 11;
/** All at once, so that they are at different points between two heartbeats. */
const SILENT = 10;
const NODES = '/api/v1/nodes';
const PATIENCE_MS = 60_000;

/**
 * Requires a connected, idle fleet. `tell` receives the measured values. Throws if a goal is missed. For closed
 * connections the median counts.
 */
export async function checkDetection(fleet: HollowFleet, tell: (what: string) => void): Promise<void> {
  const { agents, api } = fleet;
  const closed: number[] = [];
  // If the delay breaks an agent's socket, the agent reconnects at once.
  for (let at = 0; at < CLOSED; at += 1)
    closed.push(...(await lost(fleet, 'slow 0s', [nodeName(at, agents)])));
  await until(() => fleet.live === agents, { timeoutMs: PATIENCE_MS, what: 'all hosts to be back' });
  const names = Array.from({ length: SILENT }, (_, at) => nodeName(at + CLOSED, agents));
  const silent = await lost(fleet, 'offline', names);
  await fleet.command(`online ${names.join()}`);
  await untilConnected(api, names);
  const [half, last] = [middle(closed), Math.max(...closed)];
  const longest = Math.max(...silent);
  const text =
    `lost hosts among ${agents} agents: a closed connection is shown after ${half.toFixed(0)} ms (median of ${CLOSED}, longest ${last.toFixed(0)}; goal ${CLOSED_GOAL_MS}), ` +
    `a silent one after ${(longest / 1_000).toFixed(1)} s (longest of ${SILENT}; goal ${SILENT_GOAL_MS / 1_000})`;
  tell(text);
  assert.ok(half <= CLOSED_GOAL_MS, text);
  assert.ok(longest <= SILENT_GOAL_MS, text);
}

/** Milliseconds from the command until a watch shows each host as disconnected. */
async function lost(fleet: HollowFleet, command: string, names: readonly string[]): Promise<number[]> {
  const { resourceVersion } = await fleet.api.items<Node>(NODES);
  const watch = await fleet.api.watch(NODES, resourceVersion);
  try {
    const startMs = performance.now();
    await fleet.command(`${command} ${names.join()}`);
    const seen = () =>
      names.flatMap((name) => watch.events.find((event) => isLost(event.object, name))?.at ?? []);
    await until(() => seen().length === names.length, {
      timeoutMs: PATIENCE_MS,
      what: `${command} to be shown`,
    });
    return seen().map((at) => at - startMs);
  } finally {
    watch.close();
  }
}

function isLost(object: object, name: string): boolean {
  const { metadata, status } = object as Node;
  return metadata.name === name && findCondition(status?.conditions, 'Connected')?.status === 'False';
}

async function untilConnected(api: CoordinatorApi, names: readonly string[]): Promise<void> {
  const areBack = async () => {
    const { items } = await api.items<Node>(NODES);
    const isBack = ({ status }: Node) => findCondition(status?.conditions, 'Connected')?.status === 'True';
    return items.filter(({ metadata }) => names.includes(metadata.name)).every(isBack);
  };
  await until(areBack, { timeoutMs: PATIENCE_MS, what: 'silent hosts to be back', pollMs: 500 });
}

/** Nodes spread over the fleet, and therefore over its processes. */
function nodeName(at: number, agents: number): string {
  const index = Math.floor((at * agents) / (CLOSED + SILENT));
  return `node-${index + 1}`;
}

function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
