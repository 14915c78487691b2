/** Label selectors as an operator reads them. Pure. */
import type { LabelSelector } from '../../../shared/kube/objects/selectors.js';

const OPERATORS: Readonly<Record<string, string>> = {
  In: 'is one of',
  NotIn: 'is none of',
  Exists: 'is set',
  DoesNotExist: 'is not set',
};

/** Returns `site=kiel`, and for expressions `site is one of (kiel, bremen)`. */
export function selectorText(selector: LabelSelector | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) =>
    [key, OPERATORS[operator] ?? operator, values.length > 0 ? `(${values.join(', ')})` : '']
      .join(' ')
      .trimEnd(),
  );
  return [...labels, ...expressions].join(', ') || 'all hosts';
}
