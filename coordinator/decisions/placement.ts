/** May this node run a DaemonSet's Pod, and may it keep one? (pkg/controller/daemon NodeShouldRunDaemonPod) */
import type { Node, Taint } from '../../shared/kube/node.js';
import type { PodSpec } from '../../shared/kube/pod.js';
import { daemonTolerations } from './daemon-pod.js';
import { matchesRequiredAffinity, requiredAffinityText, unmetNodeSelector } from './node-affinity.js';
import { findUntoleratedTaint } from './tolerations.js';

/** The parts of a node that are looked at: conditions, capacity and `unschedulable` act only through taints. */
export type PlacementNode = Pick<Node, 'metadata' | 'spec'>;

/** The parts of a Pod template that are looked at. */
export type PlacementSpec = Pick<
  PodSpec,
  'nodeName' | 'nodeSelector' | 'affinity' | 'tolerations' | 'hostNetwork'
>;

/** Each rule that can keep a DaemonSet off a node. */
export type PlacementRule = 'NodeName' | 'NodeSelector' | 'NodeAffinity' | 'Taints';

/** What a rule has against a node. `keeps`: a Pod that is there already may stay. `reason`: in words, for people. */
export interface Objection {
  keeps: boolean;
  reason: string;
}

/** `shouldContinueRunning` is about a Pod that is there already. `rule`: the first that objects. */
export type Placement =
  | { shouldRun: true; shouldContinueRunning: true }
  | { shouldRun: false; shouldContinueRunning: boolean; rule: PlacementRule; reason: string };

/** The rules in upstream's order; the template's own affinity counts, not the pin that its Pods get. */
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

/** The verdict of all rules: the first that objects decides. */
export function placementOf(node: PlacementNode, spec: PlacementSpec): Placement {
  for (const { rule, objection } of PLACEMENT_RULES) {
    const found = objection(node, spec);
    if (found) return { shouldRun: false, shouldContinueRunning: found.keeps, rule, reason: found.reason };
  }
  return { shouldRun: true, shouldContinueRunning: true };
}

/** `gpu=yes:NoSchedule`, as kubectl writes taints. */
export function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ''}:${effect}`;
}

function nodeNameObjection({ metadata }: PlacementNode, { nodeName }: PlacementSpec): Objection | undefined {
  if (!nodeName || nodeName === metadata.name) return undefined;
  return { keeps: false, reason: `the template names node ${nodeName}` };
}

function nodeSelectorObjection(node: PlacementNode, { nodeSelector }: PlacementSpec): Objection | undefined {
  const unmet = unmetNodeSelector(nodeSelector, node);
  if (unmet.length === 0) return undefined;
  const wishes = unmet.map(({ key, value, actual }) => {
    return `${key}=${value} (the node has ${actual === undefined ? `no label ${key}` : `${key}=${actual}`})`;
  });
  return { keeps: false, reason: `the node selector wants ${wishes.join(', ')}` };
}

function nodeAffinityObjection(node: PlacementNode, { affinity }: PlacementSpec): Objection | undefined {
  if (matchesRequiredAffinity(affinity, node)) return undefined;
  return { keeps: false, reason: `the required node affinity wants ${requiredAffinityText(affinity)}` };
}

function taintsObjection(node: PlacementNode, spec: PlacementSpec): Objection | undefined {
  const taints = node.spec?.taints ?? [];
  const tolerations = daemonTolerations(spec);
  const untolerated = findUntoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute']);
  if (!untolerated) return undefined;
  const evicting = findUntoleratedTaint(taints, tolerations, ['NoExecute']);
  const reason = `untolerated taint ${taintText(evicting ?? untolerated)}`;
  return { keeps: evicting === undefined, reason };
}
