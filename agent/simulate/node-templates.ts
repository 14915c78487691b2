/** Templates of simulated nodes: numbered ones, or those of a file of Node manifests. */

import type { Node, NodeStatus } from '../../shared/kube/nodes/node-types.js';
import type { Condition } from '../../shared/kube/objects/conditions.js';
import { manifestError } from './node-manifest-check.js';

/** The Node that a simulated host registers. */
export type NodeTemplate = Pick<Node, 'metadata' | 'spec' | 'status'>;

/** Returns `count` nodes named `PREFIX-1`, `PREFIX-2` … */
export function numberedNodes(prefix: string, count: number): NodeTemplate[] {
  return Array.from({ length: count }, (_, index) => ({
    metadata: { name: `${prefix}-${index + 1}`, labels: { 'simulate.everynode.dev/fleet': prefix } },
  }));
}

/**
 * Returns the nodes of decoded YAML documents: Nodes, and Lists of them as `kubectl get nodes -o yaml` prints. Throws
 * an Error that names any other document.
 */
export function nodesFromDocuments(documents: readonly unknown[]): NodeTemplate[] {
  const plans = documents.filter((document) => document !== null).flatMap(nodesOf);
  const names = new Set<string>();
  for (const { metadata } of plans) {
    if (names.has(metadata.name)) throw new Error(`node "${metadata.name}" occurs twice`);
    names.add(metadata.name);
  }
  return plans;
}

function nodesOf(document: unknown): NodeTemplate[] {
  const { kind, items, metadata } = (document ?? {}) as Partial<Node> & { kind?: unknown; items?: unknown };
  if (Array.isArray(items)) return items.flatMap(nodesOf);
  if (kind !== 'Node' || typeof metadata?.name !== 'string') {
    throw new Error(
      `every document must be a Node with a name, found a ${String(kind ?? 'document without kind')}`,
    );
  }
  const wrong = manifestError(document);
  if (wrong) throw new Error(`node "${metadata.name}": ${wrong}`);
  return [document as NodeTemplate];
}

/** Returns the simulated status with the fields that the template sets. */
export function statusFromTemplate(
  simulated: NodeStatus,
  plan: NodeTemplate,
  changed: readonly Condition[],
): NodeStatus {
  const { capacity, allocatable, addresses, nodeInfo, conditions = [] } = plan.status ?? {};
  const heartbeat = simulated.conditions?.[0]?.lastHeartbeatTime;
  const own = mergeConditions(conditions, changed).map((condition) => ({
    ...condition,
    ...(heartbeat ? { lastHeartbeatTime: heartbeat } : {}),
  }));
  return {
    ...simulated,
    ...(capacity ? { capacity } : {}),
    ...(allocatable ? { allocatable } : {}),
    ...(addresses ? { addresses } : {}),
    ...(nodeInfo && simulated.nodeInfo
      ? { nodeInfo: { ...simulated.nodeInfo, ...nodeInfo, bootID: simulated.nodeInfo.bootID } }
      : {}),
    conditions: mergeConditions(simulated.conditions ?? [], own),
  };
}

/** Conditions of `above` replace those of the same type. */
function mergeConditions(below: readonly Condition[], above: readonly Condition[]): Condition[] {
  const types = new Set(above.map(({ type }) => type));
  return [...below.filter(({ type }) => !types.has(type)), ...above];
}
