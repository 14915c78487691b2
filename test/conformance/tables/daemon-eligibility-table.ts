/** daemon-eligibility.json: may the node run a Pod of this template, and may it keep one? */
import { placementOf } from '../../../coordinator/decisions/placement/placement.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { type ConformanceCase, compareStated, decisionTable, requireCaseKeys } from './conformance-table.js';

interface EligibilityCase {
  node: Node;
  podSpec: PodSpec;
}

function run(testCase: ConformanceCase & Partial<EligibilityCase>) {
  requireCaseKeys(testCase, ['node', 'podSpec', 'otherPodsOnNode'], ['shouldRun', 'shouldContinueRunning']);
  const { podSpec, node } = testCase;
  if (!podSpec || !node) throw new Error('podSpec and node are needed');
  const { shouldRun, shouldContinueRunning } = placementOf(node, podSpec);
  return compareStated(testCase.expected, { shouldRun, shouldContinueRunning });
}

/** Adapter of daemon-eligibility.json. */
export const DAEMON_ELIGIBILITY = decisionTable(run);
