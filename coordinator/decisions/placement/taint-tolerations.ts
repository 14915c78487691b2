/** Matches tolerations against taints (k8s.io/api core/v1 Toleration.ToleratesTaint). */
import type { Taint } from '../../../shared/kube/nodes/node-types.js';
import type { Toleration } from '../../../shared/kube/pods/pod-placement-types.js';

interface TolerationOptions {
  /** Enables the operators Gt and Lt (upstream: gate TaintTolerationComparisonOperators). Off by default. */
  comparisonOperators?: boolean;
}

/** Decimal without leading zeros, plus sign or spaces (apimachinery content.IsDecimalInteger). */
const DECIMAL = /^(0|-?[1-9][0-9]*)$/;
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

function plainInt64(text: string): bigint | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = BigInt(text);
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}

function comparesTo(operator: 'Gt' | 'Lt', tolerationValue: string, taintValue: string): boolean {
  const bound = plainInt64(tolerationValue);
  const actual = plainInt64(taintValue);
  if (bound === undefined || actual === undefined) return false;
  return operator === 'Gt' ? actual > bound : actual < bound;
}

/** True if the toleration covers the taint. An empty key, effect or operator counts as absent. */
export function tolerates(toleration: Toleration, taint: Taint, options: TolerationOptions = {}): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  const [wanted, actual] = [toleration.value ?? '', taint.value ?? ''];
  switch (toleration.operator ?? '') {
    case '':
    case 'Equal':
      return wanted === actual;
    case 'Exists':
      return true;
    case 'Gt':
      return options.comparisonOperators === true && comparesTo('Gt', wanted, actual);
    case 'Lt':
      return options.comparisonOperators === true && comparesTo('Lt', wanted, actual);
    default:
      return false;
  }
}

/**
 * Returns the first taint that no toleration covers. Only taints with one of `effects` count (k8s.io/component-helpers
 * scheduling/corev1 FindMatchingUntoleratedTaint).
 */
export function findUntoleratedTaint(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
  options: TolerationOptions = {},
): Taint | undefined {
  return taints.find(
    (taint) =>
      effects.includes(taint.effect) &&
      !tolerations.some((toleration) => tolerates(toleration, taint, options)),
  );
}
