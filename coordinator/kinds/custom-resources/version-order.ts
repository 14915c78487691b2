/** The order of API versions: v2, v1, v1beta2, v1alpha1, others (apimachinery pkg/version `CompareKubeAwareVersionStrings`). */
const FORM = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const STABILITY: Readonly<Record<string, number>> = { alpha: 0, beta: 1 };

/** Negative if `a` is preferred to `b`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [FORM.exec(a), FORM.exec(b)];
  if (!left || !right) return left ? -1 : right ? 1 : a.localeCompare(b);
  const stability = (match: RegExpExecArray) => STABILITY[match[2] ?? ''] ?? 2;
  return (
    stability(right) - stability(left) ||
    Number(right[1]) - Number(left[1]) ||
    Number(right[3] ?? 0) - Number(left[3] ?? 0)
  );
}
