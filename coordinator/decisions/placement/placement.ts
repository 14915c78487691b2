/** Decides whether a node may run, or keep, a Pod of a DaemonSet (pkg/controller/daemon NodeShouldRunDaemonPod). */

import { taintText } from '../../../shared/kube/nodes/node-change.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { daemonTolerations } from '../daemonsets/daemon-pod.js';
import {
  compileRequiredAffinity,
  matchesRequiredAffinity,
  requiredAffinityText,
  unmetNodeSelector,
} from './node-affinity.js';
import { findUntoleratedTaint } from './taint-tolerations.js';

/** The fields of a node that matter here. Conditions, capacity and `unschedulable` act only through taints. */
export type PlacementNode = Pick<Node, 'metadata' | 'spec'>;

/** The fields of a Pod template that matter here. */
export type PlacementSpec = Pick<
  PodSpec,
  'nodeName' | 'nodeSelector' | 'affinity' | 'tolerations' | 'hostNetwork'
>;

/** Taints that a node has only while it is offline or not ready. */
const TEMPORARY: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
]);

/** Returns the node as it will be when it returns. Otherwise offline hosts would not count, and would be forgotten. */
export function whenOnline<T extends PlacementNode>(node: T): T {
  const { taints } = node.spec ?? {};
  if (!taints?.some(({ key }) => TEMPORARY.has(key))) return node;
  return { ...node, spec: { ...node.spec, taints: taints.filter(({ key }) => !TEMPORARY.has(key)) } };
}

/** Taint effects that reject new Pods, and the effect that evicts running ones. */
const REPELLING = ['NoSchedule', 'NoExecute'] as const;
const EVICTING = ['NoExecute'] as const;

export type PlacementRule = 'NodeName' | 'NodeSelector' | 'NodeAffinity' | 'Taints';

/** The objection of a rule against a node. `keeps`: a running Pod may stay. `reason`: text for operators. */
interface Objection {
  keeps: boolean;
  reason: string;
}

/** `shouldContinueRunning` concerns a Pod that already runs on the node. `rule` is the first one that objects. */
export type Placement =
  | { shouldRun: true; shouldContinueRunning: true }
  | { shouldRun: false; shouldContinueRunning: boolean; rule: PlacementRule; reason: string };

/** The rules in upstream's order. The affinity of the template counts, not the node pin that its Pods get. */
export const PLACEMENT_RULES: readonly {
  rule: PlacementRule;
  /** Undefined: the node passes. */
  objection(node: PlacementNode, spec: PlacementSpec): Objection | undefined;
}[] = [
  { rule: 'NodeName', objection: nodeNameObjection },
  { rule: 'NodeSelector', objection: nodeSelectorObjection },
  { rule: 'NodeAffinity', objection: nodeAffinityObjection },
  { rule: 'Taints', objection: taintsObjection },
];

export function placementOf(node: PlacementNode, spec: PlacementSpec): Placement {
  for (const { rule, objection } of PLACEMENT_RULES) {
    const found = objection(node, spec);
    if (found) return { shouldRun: false, shouldContinueRunning: found.keeps, rule, reason: found.reason };
  }
  return { shouldRun: true, shouldContinueRunning: true };
}

/** A placement without the reason. */
export type PlacementVerdict = Pick<Placement, 'shouldRun' | 'shouldContinueRunning'>;

const RUNS: PlacementVerdict = { shouldRun: true, shouldContinueRunning: true };
const STAYS: PlacementVerdict = { shouldRun: false, shouldContinueRunning: true };
const LEAVES: PlacementVerdict = { shouldRun: false, shouldContinueRunning: false };

/**
 * Compiles a template for many nodes. The result equals `placementOf` without the reason, and is faster to compute.
 */
export function compilePlacement(spec: PlacementSpec): (node: PlacementNode) => PlacementVerdict {
  const { nodeName, affinity } = spec;
  const selected = Object.entries(spec.nodeSelector ?? {});
  const matchesAffinity = compileRequiredAffinity(affinity);
  const tolerations = daemonTolerations(spec);
  return (node) => {
    if (nodeName && nodeName !== node.metadata.name) return LEAVES;
    const labels = node.metadata.labels ?? {};
    for (const [key, value] of selected) {
      if (labels[key] !== value) return LEAVES;
    }
    if (!matchesAffinity(node)) return LEAVES;
    const taints = node.spec?.taints;
    if (!taints || taints.length === 0 || !findUntoleratedTaint(taints, tolerations, REPELLING)) return RUNS;
    return findUntoleratedTaint(taints, tolerations, EVICTING) ? LEAVES : STAYS;
  };
}

function nodeNameObjection({ metadata }: PlacementNode, { nodeName }: PlacementSpec): Objection | undefined {
  if (!nodeName || nodeName === metadata.name) return undefined;
  return { keeps: false, reason: `the template names node ${nodeName}` };
}

function nodeSelectorObjection(node: PlacementNode, { nodeSelector }: PlacementSpec): Objection | undefined {
  const unmet = unmetNodeSelector(nodeSelector, node);
  if (unmet.length === 0) return undefined;
  const unmatched = unmet.map(({ key, value, actual }) => {
    return `${key}=${value} (the node has ${actual === undefined ? `no label ${key}` : `${key}=${actual}`})`;
  });
  return { keeps: false, reason: `the node selector requires ${unmatched.join(', ')}` };
}

function nodeAffinityObjection(node: PlacementNode, { affinity }: PlacementSpec): Objection | undefined {
  if (matchesRequiredAffinity(affinity, node)) return undefined;
  return { keeps: false, reason: `the required node affinity requires ${requiredAffinityText(affinity)}` };
}

function taintsObjection(node: PlacementNode, spec: PlacementSpec): Objection | undefined {
  const taints = node.spec?.taints ?? [];
  const tolerations = daemonTolerations(spec);
  const untolerated = findUntoleratedTaint(taints, tolerations, REPELLING);
  if (!untolerated) return undefined;
  const evicting = findUntoleratedTaint(taints, tolerations, EVICTING);
  const reason = `untolerated taint ${taintText(evicting ?? untolerated)}`;
  return { keeps: evicting === undefined, reason };
}
