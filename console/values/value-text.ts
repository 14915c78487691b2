/** Values of hosts as words. Pure. */
import type { HostValue } from '../../shared/kube/host-values/host-values-types.js';
import { isSecretValue } from '../../shared/kube/host-values/rendered-values.js';
import { FLEET_GROUP } from '../../shared/kube/objects/meta.js';
import type { LabelSelector } from '../../shared/kube/objects/selectors.js';

/** Longer values are cut. The page of the object has them whole. */
const MOST_CHARACTERS = 120;

/** Returns the value, or for a value in a Secret where it is. */
export function valueText(value: HostValue): string {
  if (isSecretValue(value)) return `key ${value.secretKeyRef.key} of Secret ${value.secretKeyRef.name}`;
  return value.length > MOST_CHARACTERS ? `${value.slice(0, MOST_CHARACTERS)}…` : value;
}

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

export const FLEET_API = `/apis/${FLEET_GROUP}/v1`;

/** Returns the path of a collection of HostValues or of effective values. */
export function valuesPath(resource: string, namespace: string): string {
  return namespace === '' ? `${FLEET_API}/${resource}` : `${FLEET_API}/namespaces/${namespace}/${resource}`;
}
