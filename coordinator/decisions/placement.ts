/** May this node run a DaemonSet's Pod, and may it keep one? (pkg/controller/daemon NodeShouldRunDaemonPod) */
import type { Node, Taint } from '../../shared/kube/node.js';
import type { PodSpec } from '../../shared/kube/pod.js';
import { daemonTolerations } from './daemon-pod.js';
import { matchesNodeSelector, matchesRequiredAffinity } from './node-affinity.js';
import { findUntoleratedTaint } from './tolerations.js';

/** The parts of a node that are looked at: conditions, capacity and `unschedulable` act only through taints. */
export type PlacementNode = Pick<Node, 'metadata' | 'spec'>;

/** The parts of a Pod template that are looked at. */
export type PlacementSpec = Pick<
  PodSpec,
  'nodeName' | 'nodeSelector' | 'affinity' | 'tolerations' | 'hostNetwork'
>;

/** `shouldContinueRunning` is about a Pod that is there already. `reason`: in words, for people. */
export type Placement =
  | { shouldRun: true; shouldContinueRunning: true }
  | { shouldRun: false; shouldContinueRunning: boolean; reason: string };

function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ''}:${effect}`;
}

function refused(reason: string): Placement {
  return { shouldRun: false, shouldContinueRunning: false, reason };
}

/** The template's own affinity counts here, not the pin that its Pods get. */
export function placementOf(node: PlacementNode, spec: PlacementSpec): Placement {
  const { name } = node.metadata;
  if (spec.nodeName && spec.nodeName !== name) return refused(`the template names node ${spec.nodeName}`);
  if (!matchesNodeSelector(spec.nodeSelector, node)) {
    return refused("the node's labels do not match the node selector");
  }
  if (!matchesRequiredAffinity(spec.affinity, node)) {
    return refused('the node does not match the required node affinity');
  }
  return placementByTaints(node, spec);
}

function placementByTaints(node: PlacementNode, spec: PlacementSpec): Placement {
  const taints = node.spec?.taints ?? [];
  const tolerations = daemonTolerations(spec);
  const untolerated = findUntoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute']);
  if (!untolerated) return { shouldRun: true, shouldContinueRunning: true };
  const evicting = findUntoleratedTaint(taints, tolerations, ['NoExecute']);
  return {
    shouldRun: false,
    shouldContinueRunning: evicting === undefined,
    reason: `untolerated taint ${taintText(evicting ?? untolerated)}`,
  };
}
