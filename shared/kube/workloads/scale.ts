/** autoscaling/v1 Scale of an object with `spec.replicas` (pkg/registry/apps/deployment/storage ScaleREST). */
import type { KubeObject, ObjectMeta } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';

/** An object of a built-in kind that has a `scale` subresource. */
export interface Scalable extends KubeObject {
  spec: { selector: LabelSelector };
}

const OPERATORS: Readonly<Record<string, string>> = { In: 'in', NotIn: 'notin' };

/** Returns the selector in the syntax of a query, sorted by key; "" if it has no terms. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const terms = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` })),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return { key, text: key };
      if (operator === 'DoesNotExist') return { key, text: `!${key}` };
      return { key, text: `${key} ${OPERATORS[operator] ?? operator} (${[...values].sort().join(',')})` };
    }),
  ];
  return terms
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ text }) => text)
    .join(',');
}

/** Returns the metadata of an object's Scale: the object's name, uid and resourceVersion, and no labels. */
export function scaleMetadata(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(creationTimestamp == null ? {} : { creationTimestamp }),
  };
}
