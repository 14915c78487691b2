/** Explains every placement rule with its result. */
import { taintText } from '../../../shared/kube/nodes/node-change.js';
import { PLACEMENT_RULES, type PlacementNode, type PlacementRule, type PlacementSpec } from './placement.js';

/** The result of one rule. `detail` explains it. */
export interface RuleResult {
  rule: PlacementRule;
  passed: boolean;
  detail: string;
}

/** Returns all rules in order, also after the first failed one, so that an operator sees every problem. */
export function explainPlacement(node: PlacementNode, spec: PlacementSpec): RuleResult[] {
  return PLACEMENT_RULES.map(({ rule, objection }) => {
    const found = objection(node, spec);
    return { rule, passed: !found, detail: found?.reason ?? passedText(rule, node, spec) };
  });
}

function passedText(rule: PlacementRule, node: PlacementNode, spec: PlacementSpec): string {
  switch (rule) {
    case 'NodeName':
      return spec.nodeName ? 'the template names this node' : 'the template names no node';
    case 'NodeSelector': {
      const pairs = Object.entries(spec.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`);
      return pairs.length > 0 ? `the node has ${pairs.join(', ')}` : 'the template has no node selector';
    }
    case 'NodeAffinity':
      return spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
        ? 'the node meets the required node affinity'
        : 'the template has no required node affinity';
    case 'Taints':
      return toleratedText(node);
  }
}

/** For a node that passes: all of these taints are tolerated. */
function toleratedText({ spec }: PlacementNode): string {
  const hard = (spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule');
  return hard.length > 0
    ? `tolerated: ${hard.map(taintText).join(', ')}`
    : 'the node has no taint that rejects Pods';
}
