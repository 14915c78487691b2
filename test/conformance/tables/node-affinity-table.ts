/** node-affinity.json: a Pod's node selector and required affinity against a node. */
import {
  type AffinityNode,
  matchesNodeAffinity,
} from '../../../coordinator/decisions/placement/node-affinity.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { type ConformanceCase, compareStated, decisionTable, requireCaseKeys } from './conformance-table.js';

interface NodeAffinityCase {
  podSpec: PodSpec;
  node: AffinityNode;
}

function run(testCase: ConformanceCase & Partial<NodeAffinityCase>) {
  requireCaseKeys(testCase, ['podSpec', 'node'], ['match']);
  const { podSpec, node } = testCase;
  if (!podSpec || !node) throw new Error('podSpec and node are needed');
  return compareStated(testCase.expected, { match: matchesNodeAffinity(podSpec, node) });
}

/** Adapter of node-affinity.json. */
export const NODE_AFFINITY = decisionTable(run);
