/** daemon-eligibility.json: may the node run, may it keep the Pod of this template? */
import { placementOf } from '../../coordinator/decisions/placement.js';
import type { Node } from '../../shared/kube/node.js';
import type { PodSpec } from '../../shared/kube/pod.js';
import { type ConformanceCase, compareStated, decisionTable, requireCaseKeys } from './table.js';

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
