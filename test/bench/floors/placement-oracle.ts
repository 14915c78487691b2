/** The placement rules, written down as simply as possible: index, closures and product must agree with them. */
import type { PlacementNode, PlacementSpec } from '../../../coordinator/decisions/placement/placement.js';

export function mayRun(node: PlacementNode, spec: PlacementSpec): boolean {
  const labels = new Map(Object.entries(node.metadata.labels ?? {}));
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {})) {
    if (labels.get(key) !== value) return false;
  }
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (terms) {
    const metTerms = terms.filter((term) => {
      const unmet = (term.matchExpressions ?? []).filter(({ key, operator, values = [] }) => {
        if (operator === 'Exists') return !labels.has(key);
        if (operator === 'DoesNotExist') return labels.has(key);
        const isListed = labels.has(key) && values.includes(labels.get(key) ?? '');
        return operator === 'In' ? !isListed : isListed;
      });
      return unmet.length === 0;
    });
    if (metTerms.length === 0) return false;
  }
  for (const taint of node.spec?.taints ?? []) {
    const covering = (spec.tolerations ?? []).filter(({ key, operator, value, effect }) => {
      const isSame = (!effect || effect === taint.effect) && (!key || key === taint.key);
      return isSame && (operator === 'Exists' || (value ?? '') === (taint.value ?? ''));
    });
    if (covering.length === 0) return false;
  }
  return true;
}
