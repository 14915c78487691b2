/** May this node run a DaemonSet's Pod, and may it keep one? (pkg/controller/daemon NodeShouldRunDaemonPod) */

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

/** The parts of a node that are looked at: conditions, capacity and `unschedulable` act only through taints. */
export type PlacementNode = Pick<Node, 'metadata' | 'spec'>;

/** The parts of a Pod template that are looked at. */
export type PlacementSpec = Pick<
  PodSpec,
  'nodeName' | 'nodeSelector' | 'affinity' | 'tolerations' | 'hostNetwork'
>;

/** Effects of taints that keep new Pods away, and those that drive Pods out. */
const REPELLING = ['NoSchedule', 'NoExecute'] as const;
const EVICTING = ['NoExecute'] as const;

/** Each rule that can keep a DaemonSet off a node. */
export type PlacementRule = 'NodeName' | 'NodeSelector' | 'NodeAffinity' | 'Taints';

/** What a rule has against a node. `keeps`: a Pod that is there already may stay. `reason`: in words, for people. */
interface Objection {
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

/** A verdict without words. */
export type PlacementVerdict = Pick<Placement, 'shouldRun' | 'shouldContinueRunning'>;

const RUNS: PlacementVerdict = { shouldRun: true, shouldContinueRunning: true };
const STAYS: PlacementVerdict = { shouldRun: false, shouldContinueRunning: true };
const GOES: PlacementVerdict = { shouldRun: false, shouldContinueRunning: false };

/**
 * The verdict of `placementOf` alone, for a template that is asked of many nodes: what can be known of it before is
 * worked out once, and no reason is put into words.
 */
export function compilePlacement(spec: PlacementSpec): (node: PlacementNode) => PlacementVerdict {
  const { nodeName, affinity } = spec;
  const selected = Object.entries(spec.nodeSelector ?? {});
  const matchesAffinity = compileRequiredAffinity(affinity);
  const tolerations = daemonTolerations(spec);
  return (node) => {
    if (nodeName && nodeName !== node.metadata.name) return GOES;
    const labels = node.metadata.labels ?? {};
    for (const [key, value] of selected) {
      if (labels[key] !== value) return GOES;
    }
    if (!matchesAffinity(node)) return GOES;
    const taints = node.spec?.taints;
    if (!taints || taints.length === 0 || !findUntoleratedTaint(taints, tolerations, REPELLING)) return RUNS;
    return findUntoleratedTaint(taints, tolerations, EVICTING) ? GOES : STAYS;
  };
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
  const untolerated = findUntoleratedTaint(taints, tolerations, REPELLING);
  if (!untolerated) return undefined;
  const evicting = findUntoleratedTaint(taints, tolerations, EVICTING);
  const reason = `untolerated taint ${taintText(evicting ?? untolerated)}`;
  return { keeps: evicting === undefined, reason };
}
