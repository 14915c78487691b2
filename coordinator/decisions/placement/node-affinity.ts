/**
 * Whether a node meets a Pod's `nodeSelector` and required node affinity
 * (k8s.io/component-helpers scheduling/corev1/nodeaffinity).
 */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { isLabelKey, isLabelValue } from '../../../shared/kube/objects/label-syntax.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
} from '../../../shared/kube/pods/pod-placement-types.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';

/** The parts of a node that are looked at. */
export type AffinityNode = { metadata: Pick<Node['metadata'], 'name' | 'labels'> };

/** Whether a node passes. */
type NodeTest = (node: AffinityNode) => boolean;

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

type LabelTest = (labels: Labels) => boolean;

/** What every object inherits is no text: asking for that is cheaper than asking whose it is. */
function labelOf(labels: Labels, key: string): string | undefined {
  const value: unknown = labels[key];
  return typeof value === 'string' ? value : undefined;
}

function compileExpression({ key, operator, values }: NodeSelectorRequirement): LabelTest {
  const wanted = new Set(values ?? []);
  switch (operator) {
    case 'In':
      return (labels) => {
        const label = labelOf(labels, key);
        return label !== undefined && wanted.has(label);
      };
    case 'NotIn':
      return (labels) => {
        const label = labelOf(labels, key);
        return label === undefined || !wanted.has(label);
      };
    case 'Exists':
      return (labels) => labelOf(labels, key) !== undefined;
    case 'DoesNotExist':
      return (labels) => labelOf(labels, key) === undefined;
    default:
      return compileComparison(key, operator, values?.[0] ?? '');
  }
}

function compileComparison(key: string, operator: string, value: string): LabelTest {
  const bound = parseInt64(value);
  return (labels) => {
    const label = labelOf(labels, key);
    const actual = label === undefined ? undefined : parseInt64(label);
    if (actual === undefined || bound === undefined) return false;
    return operator === 'Gt' ? actual > bound : actual < bound;
  };
}

function isReadableField({ operator, values }: NodeSelectorRequirement): boolean {
  return (operator === 'In' || operator === 'NotIn') && values?.length === 1;
}

/** Only `metadata.name` is a field; any other key reads as the empty string. */
function meetsField({ key, operator, values }: NodeSelectorRequirement, nodeName: string): boolean {
  const actual = key === 'metadata.name' ? nodeName : '';
  return (actual === values?.[0]) === (operator === 'In');
}

/** One term: all expressions and all fields. A term without either matches nothing, nor does an unreadable one. */
function compileTerm(term: NodeSelectorTerm): NodeTest {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  const isReadable = expressions.every(isReadableExpression) && fields.every(isReadableField);
  if (!isReadable || expressions.length + fields.length === 0) return () => false;
  const tests = expressions.map(compileExpression);
  return ({ metadata: { name, labels } }) => {
    const present = labels ?? {};
    // A node without a name has no fields to compare, and upstream then passes over matchFields.
    if (name && fields.length > 0 && !fields.every((field) => meetsField(field, name))) return false;
    for (const test of tests) if (!test(present)) return false;
    return true;
  };
}

/** A pair of `nodeSelector` that the node lacks; `actual`: its own value of that label, if it has one. */
interface UnmetLabel {
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

/**
 * Answers of a node whether any term of the required node affinity matches; without a required affinity every node
 * does. Reading the affinity costs more than asking, so one that is asked of many nodes is read once.
 */
export function compileRequiredAffinity(affinity: PodSpec['affinity']): NodeTest {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!required) return () => true;
  const terms = (required.nodeSelectorTerms ?? []).map((term) => compileTerm(term ?? {}));
  return (node) => {
    for (const matches of terms) if (matches(node)) return true;
    return false;
  };
}

/** The same, of one node. */
export function matchesRequiredAffinity(affinity: PodSpec['affinity'], node: AffinityNode): boolean {
  return compileRequiredAffinity(affinity)(node);
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
