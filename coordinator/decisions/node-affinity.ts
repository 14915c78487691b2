/**
 * Whether a node meets a Pod's `nodeSelector` and required node affinity
 * (k8s.io/component-helpers scheduling/corev1/nodeaffinity).
 */
import { isLabelKey, isLabelValue } from '../../shared/kube/label-syntax.js';
import type { Node } from '../../shared/kube/node.js';
import type { NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from '../../shared/kube/pod.js';
import type { Labels } from '../../shared/kube/selectors.js';

/** The parts of a node that are looked at. */
export type AffinityNode = { metadata: Pick<Node['metadata'], 'name' | 'labels'> };

const INT64_MAX = 2n ** 63n - 1n;

/** Base 10 with an optional sign and leading zeros, within 64 bits (Go's strconv.ParseInt). */
function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return value <= INT64_MAX && value >= -INT64_MAX - 1n ? value : undefined;
}

/** How many values an operator takes; undefined = no such operator. */
function takesValues(operator: string, values: readonly string[]): boolean {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0;
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0;
    case 'Gt':
    case 'Lt':
      return values.length === 1 && parseInt64(values[0] ?? '') !== undefined;
    default:
      return false;
  }
}

/** An unreadable requirement spoils its term, but no other term (labels.NewRequirement). */
function isReadableExpression({ key, operator, values = [] }: NodeSelectorRequirement): boolean {
  return isLabelKey(key ?? '') && takesValues(operator, values ?? []) && (values ?? []).every(isLabelValue);
}

function meetsExpression(requirement: NodeSelectorRequirement, labels: Labels): boolean {
  const label = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  const values = requirement.values ?? [];
  switch (requirement.operator) {
    case 'In':
      return label !== undefined && values.includes(label);
    case 'NotIn':
      return label === undefined || !values.includes(label);
    case 'Exists':
      return label !== undefined;
    case 'DoesNotExist':
      return label === undefined;
    default:
      return meetsComparison(requirement.operator, label, values[0] ?? '');
  }
}

function meetsComparison(operator: string, label: string | undefined, value: string): boolean {
  const actual = label === undefined ? undefined : parseInt64(label);
  const bound = parseInt64(value);
  if (actual === undefined || bound === undefined) return false;
  return operator === 'Gt' ? actual > bound : actual < bound;
}

function isReadableField({ operator, values }: NodeSelectorRequirement): boolean {
  return (operator === 'In' || operator === 'NotIn') && values?.length === 1;
}

/** Only `metadata.name` is a field; any other key reads as the empty string. */
function meetsField({ key, operator, values }: NodeSelectorRequirement, nodeName: string): boolean {
  const actual = key === 'metadata.name' ? nodeName : '';
  return (actual === values?.[0]) === (operator === 'In');
}

/** One term: all expressions and all fields. A term without either matches nothing. */
function matchesNodeSelectorTerm(term: NodeSelectorTerm, node: AffinityNode): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length === 0 && fields.length === 0) return false;
  if (!expressions.every(isReadableExpression) || !fields.every(isReadableField)) return false;
  const { name, labels = {} } = node.metadata;
  // A node without a name has no fields to compare, and upstream then passes over matchFields.
  const meetsFields = !name || fields.every((field) => meetsField(field, name));
  return meetsFields && expressions.every((expression) => meetsExpression(expression, labels ?? {}));
}

/** A pair of `nodeSelector` that the node lacks; `actual`: its own value of that label, if it has one. */
export interface UnmetLabel {
  key: string;
  value: string;
  actual: string | undefined;
}

/** The pairs of `nodeSelector` that are no labels of the node; [] = it matches. */
export function unmetNodeSelector(selector: PodSpec['nodeSelector'], node: AffinityNode): UnmetLabel[] {
  const labels = node.metadata.labels ?? {};
  return Object.entries(selector ?? {}).flatMap(([key, value]) => {
    const actual = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return actual === value ? [] : [{ key, value, actual }];
  });
}

/** Whether any term of the required node affinity matches; without a required affinity every node does. */
export function matchesRequiredAffinity(affinity: PodSpec['affinity'], node: AffinityNode): boolean {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!required) return true;
  return (required.nodeSelectorTerms ?? []).some((term) => matchesNodeSelectorTerm(term ?? {}, node));
}

/** Node selector and required affinity together (nodeaffinity.GetRequiredNodeAffinity). Preferences are not read. */
export function matchesNodeAffinity(
  spec: Pick<PodSpec, 'nodeSelector' | 'affinity'>,
  node: AffinityNode,
): boolean {
  return (
    unmetNodeSelector(spec.nodeSelector, node).length === 0 && matchesRequiredAffinity(spec.affinity, node)
  );
}

function requirementText({ key, operator, values }: NodeSelectorRequirement): string {
  return values?.length ? `${key} ${operator} (${values.join(', ')})` : `${key} ${operator}`;
}

/** The terms of the required node affinity in words: `zone In (a, b) and disk Exists, or …`. */
export function requiredAffinityText(affinity: PodSpec['affinity']): string {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = (required?.nodeSelectorTerms ?? []).map((term) =>
    [...(term?.matchExpressions ?? []), ...(term?.matchFields ?? [])].map(requirementText).join(' and '),
  );
  const wishes = terms.filter((text) => text !== '');
  return wishes.length > 0 ? wishes.join(', or ') : 'something that no node has: it has no terms';
}
