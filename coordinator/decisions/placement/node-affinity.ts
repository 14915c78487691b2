/** Node selector and required node affinity (k8s.io/component-helpers scheduling/corev1/nodeaffinity). */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { isLabelKey, isLabelValue } from '../../../shared/kube/objects/label-syntax.js';
import type { Labels } from '../../../shared/kube/objects/selectors.js';
import type {
  NodeSelectorRequirement,
  NodeSelectorTerm,
} from '../../../shared/kube/pods/pod-placement-types.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';

/** The fields of a node that matter here. */
export type AffinityNode = { metadata: Pick<Node['metadata'], 'name' | 'labels'> };

type NodeTest = (node: AffinityNode) => boolean;

const INT64_MAX = 2n ** 63n - 1n;

/** Parses base 10 with an optional sign and leading zeros, within 64 bits (Go's strconv.ParseInt). */
function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return value <= INT64_MAX && value >= -INT64_MAX - 1n ? value : undefined;
}

/** True if the operator exists and accepts these values. */
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

/** An invalid requirement invalidates its term, but no other term (labels.NewRequirement). */
function isValidExpression({ key, operator, values = [] }: NodeSelectorRequirement): boolean {
  return isLabelKey(key ?? '') && takesValues(operator, values ?? []) && (values ?? []).every(isLabelValue);
}

type LabelTest = (labels: Labels) => boolean;

/** Inherited properties of the object are not strings. This check is faster than Object.hasOwn. */
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

function isValidField({ operator, values }: NodeSelectorRequirement): boolean {
  return (operator === 'In' || operator === 'NotIn') && values?.length === 1;
}

/** Only `metadata.name` is a field. Any other key has the empty string as its value. */
function meetsField({ key, operator, values }: NodeSelectorRequirement, nodeName: string): boolean {
  const actual = key === 'metadata.name' ? nodeName : '';
  return (actual === values?.[0]) === (operator === 'In');
}

/** One term: all expressions and all fields must match. An empty or invalid term matches no node. */
function compileTerm(term: NodeSelectorTerm): NodeTest {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  const isValid = expressions.every(isValidExpression) && fields.every(isValidField);
  if (!isValid || expressions.length + fields.length === 0) return () => false;
  const tests = expressions.map(compileExpression);
  return ({ metadata: { name, labels } }) => {
    const present = labels ?? {};
    // Upstream ignores matchFields for a node without a name.
    if (name && fields.length > 0 && !fields.every((field) => meetsField(field, name))) return false;
    for (const test of tests) if (!test(present)) return false;
    return true;
  };
}

/** An entry of `nodeSelector` that the node does not match. `actual` is the node's value of that label, if any. */
interface UnmetLabel {
  key: string;
  value: string;
  actual: string | undefined;
}

/** Returns the entries of `nodeSelector` that the node does not match; [] if it matches. */
export function unmetNodeSelector(selector: PodSpec['nodeSelector'], node: AffinityNode): UnmetLabel[] {
  const labels = node.metadata.labels ?? {};
  return Object.entries(selector ?? {}).flatMap(([key, value]) => {
    const actual = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return actual === value ? [] : [{ key, value, actual }];
  });
}

/**
 * Compiles the required node affinity into a test for nodes. A node passes if any term matches, or if there is no
 * required affinity. Compiling is slower than matching, so compile once for many nodes.
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

/** Like `compileRequiredAffinity`, for a single node. */
export function matchesRequiredAffinity(affinity: PodSpec['affinity'], node: AffinityNode): boolean {
  return compileRequiredAffinity(affinity)(node);
}

/** Node selector and required affinity together (nodeaffinity.GetRequiredNodeAffinity). Preferences are ignored. */
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

/** Formats the terms of the required node affinity: `zone In (a, b) and disk Exists, or …`. */
export function requiredAffinityText(affinity: PodSpec['affinity']): string {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = (required?.nodeSelectorTerms ?? []).map((term) =>
    [...(term?.matchExpressions ?? []), ...(term?.matchFields ?? [])].map(requirementText).join(' and '),
  );
  const texts = terms.filter((text) => text !== '');
  return texts.length > 0 ? texts.join(', or ') : 'nothing that a node can match: it has no terms';
}
