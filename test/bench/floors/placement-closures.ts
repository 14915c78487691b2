/** Floor of placing one node: each DaemonSet is compiled once to a function that checks only its own conditions. */
import type { PlacementNode, PlacementSpec } from '../../../coordinator/decisions/placement/placement.js';
import type { NodeSelectorRequirement, Toleration } from '../../../shared/kube/pods/pod-placement-types.js';

type Test = (labels: Record<string, string>) => boolean;

/** Returns a function that decides whether a node may run it. */
export function compileBarePlacement(spec: PlacementSpec): (node: PlacementNode) => boolean {
  const selected = Object.entries(spec.nodeSelector ?? {});
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms?.map((term) => (term.matchExpressions ?? []).map(compile));
  const tolerations = spec.tolerations ?? [];
  return ({ metadata, spec: { taints = [] } = {} }) => {
    const labels = metadata.labels ?? {};
    for (const [key, value] of selected) if (labels[key] !== value) return false;
    if (terms && !terms.some((tests) => tests.every((test) => test(labels)))) return false;
    return taints.every((taint) => tolerations.some((toleration) => covers(toleration, taint)));
  };
}

function compile({ key, operator, values = [] }: NodeSelectorRequirement): Test {
  const wanted = new Set(values);
  switch (operator) {
    case 'In':
      return (labels) => wanted.has(labels[key] ?? '');
    case 'NotIn':
      return (labels) => !wanted.has(labels[key] ?? '');
    case 'Exists':
      return (labels) => labels[key] !== undefined;
    default:
      return (labels) => labels[key] === undefined;
  }
}

function covers(toleration: Toleration, taint: { key: string; value?: string; effect: string }): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  return toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '');
}
