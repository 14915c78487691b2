/** tolerations.json: one toleration and one taint, or lists of both. */
import {
  findUntoleratedTaint,
  tolerates,
} from '../../../coordinator/decisions/placement/taint-tolerations.js';
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import {
  type ConformanceCase,
  compareStated,
  decisionTable,
  requireCaseKeys,
  requireKeys,
} from './conformance-table.js';

interface TolerationsCase {
  toleration?: Toleration;
  taint?: Taint;
  tolerations?: Toleration[] | null;
  taints?: Taint[] | null;
  consideredEffects?: string[];
  comparisonOperators?: boolean;
}

const KEYS = ['toleration', 'taint', 'tolerations', 'taints', 'consideredEffects', 'comparisonOperators'];

/** Throws on a key that no toleration has. */
export function requireToleration(toleration: Toleration): void {
  requireKeys(toleration, ['key', 'operator', 'value', 'effect', 'tolerationSeconds'], 'a toleration');
}

/** Throws on a key that no taint has. */
export function requireTaint(taint: Taint): void {
  requireKeys(taint, ['key', 'value', 'effect', 'timeAdded'], 'a taint');
}

function isTolerated(testCase: TolerationsCase): boolean {
  const { toleration, taint, comparisonOperators = false } = testCase;
  if (toleration && taint) return tolerates(toleration, taint, { comparisonOperators });
  const taints = testCase.taints ?? [];
  const effects = testCase.consideredEffects ?? taints.map((one) => one.effect);
  return !findUntoleratedTaint(taints, testCase.tolerations ?? [], effects, { comparisonOperators });
}

function run(testCase: ConformanceCase) {
  requireCaseKeys(testCase, KEYS, ['tolerated']);
  const input = testCase as TolerationsCase;
  if ((input.toleration === undefined) !== (input.taint === undefined)) {
    throw new Error('toleration and taint come together');
  }
  for (const toleration of [input.toleration ?? [], input.tolerations ?? []].flat()) {
    requireToleration(toleration);
  }
  for (const taint of [input.taint ?? [], input.taints ?? []].flat()) requireTaint(taint);
  return compareStated(testCase.expected, { tolerated: isTolerated(input) });
}

/** Adapter of tolerations.json. */
export const TOLERATIONS = decisionTable(run);
