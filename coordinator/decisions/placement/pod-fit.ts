/** Decides whether a Pod fits on a node, with the scheduler's reasons (pkg/scheduler/framework/plugins). */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { hostPorts, portsConflict } from '../../../shared/kube/pods/host-ports.js';
import { isPodTerminal, type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { matchesNodeAffinity } from './node-affinity.js';
import { amounts, podRequests, type ResourceUsage } from './pod-resource-usage.js';
import { findUntoleratedTaint, tolerates } from './taint-tolerations.js';

/** Pods with another scheduler name are ignored. */
export const DEFAULT_SCHEDULER = 'default-scheduler';

/** True for an unbound, live Pod of the default scheduler. */
export function isSchedulable(pod: Pod): boolean {
  const { schedulerName = DEFAULT_SCHEDULER, nodeName } = pod.spec;
  return (
    !nodeName && schedulerName === DEFAULT_SCHEDULER && !pod.metadata.deletionTimestamp && !isPodTerminal(pod)
  );
}

const UNSCHEDULABLE_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;

/** Why a Pod does not fit on a node. */
export interface Refusal {
  reasons: string[];
  /** No other Pod's end would make it fit (upstream's status UnschedulableAndUnresolvable). */
  isFinal: boolean;
}

const final = (reason: string): Refusal => ({ reasons: [reason], isFinal: true });

/**
 * Returns the reasons against the node, or undefined if the Pod fits. The first failed rule counts, in upstream's
 * order: unschedulable, node name, taints, affinity, ports, resources. `taken` includes Pods in flight.
 */
export function fitRefusal(pod: Pick<Pod, 'spec'>, node: Node, taken: ResourceUsage): Refusal | undefined {
  const { spec } = pod;
  const tolerations = spec.tolerations ?? [];
  if (node.spec?.unschedulable && !tolerations.some((one) => tolerates(one, UNSCHEDULABLE_TAINT))) {
    return final('node(s) were unschedulable');
  }
  if (spec.nodeName && spec.nodeName !== node.metadata.name) {
    return final("node(s) didn't match the requested node name");
  }
  const taint = findUntoleratedTaint(node.spec?.taints ?? [], tolerations, ['NoSchedule', 'NoExecute']);
  if (taint) return final(`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`);
  if (!matchesNodeAffinity(spec, node)) return final("node(s) didn't match Pod's node affinity/selector");
  if (hostPorts(spec).some((port) => taken.ports.some((other) => portsConflict(port, other)))) {
    return { reasons: ["node(s) didn't have free ports for the requested pod ports"], isFinal: false };
  }
  return resourceRefusal(pod, node, taken);
}

/** Like `fitRefusal`: [] if the Pod fits. */
export function fitRefusals(pod: Pick<Pod, 'spec'>, node: Node, taken: ResourceUsage): string[] {
  return fitRefusal(pod, node, taken)?.reasons ?? [];
}

/** Names every insufficient resource. Without a Pod limit, a node accepts any number. */
function resourceRefusal({ spec }: Pick<Pod, 'spec'>, node: Node, taken: ResourceUsage): Refusal | undefined {
  const allocatable = amounts(node.status?.allocatable);
  const reasons = taken.pods + 1 > (allocatable.pods ?? Number.POSITIVE_INFINITY) ? ['Too many pods'] : [];
  let isFinal = false;
  for (const [name, request] of Object.entries(podRequests(spec))) {
    const all = ownValue(allocatable, name) ?? 0;
    if (request <= 0 || request <= all - (ownValue(taken.requests, name) ?? 0)) continue;
    reasons.push(`Insufficient ${name}`);
    // The empty node would not suffice either (noderesources `Unresolvable`).
    if (request > all) isFinal = true;
  }
  return reasons.length > 0 ? { reasons, isFinal } : undefined;
}

/** Returns the node in the Pod's required affinity if it names exactly one node, as for Pods of a DaemonSet. */
export function pinnedNode(pod: Pick<Pod, 'spec'>): string | undefined {
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required?.nodeSelectorTerms?.length === 1 ? targetNodeOf(pod) : undefined;
}

/** Reason under which the other nodes of a pinned Pod are counted. */
export const NOT_THE_PINNED_NODE = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

/** Counts nodes by the reasons against a Pod, and formats them like upstream's `framework.FitError`. */
export class FitRefusals {
  readonly #counts = new Map<string, number>();
  #nodes = 0;

  get nodes(): number {
    return this.#nodes;
  }

  add(reasons: readonly string[], nodes = 1): void {
    for (const reason of reasons) this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + nodes);
    this.#nodes += nodes;
  }

  /** Returns for example `0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods.` */
  message(): string {
    if (this.#nodes === 0) return 'no nodes available to schedule pods';
    const reasons = [...this.#counts]
      .filter(([, count]) => count > 0)
      .map(([reason, count]) => `${count} ${reason}`);
    return `0/${this.#nodes} nodes are available: ${reasons.sort().join(', ')}.`;
  }
}

/**
 * Lower is better: untolerated PreferNoSchedule taints first, then Pods of the same owner, so that the loss of a host
 * costs few replicas, then the share of the most used resource.
 */
export function nodeScore(pod: Pick<Pod, 'spec'>, node: Node, taken: ResourceUsage, siblings = 0): number {
  const tolerations = pod.spec.tolerations ?? [];
  const avoided = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === 'PreferNoSchedule' && !tolerations.some((one) => tolerates(one, taint)),
  ).length;
  const allocatable = amounts(node.status?.allocatable);
  const shares = ['cpu', 'memory', 'pods'].map((name) => {
    const used = name === 'pods' ? taken.pods : (taken.requests[name] ?? 0);
    return allocatable[name] ? used / allocatable[name] : 0;
  });
  return avoided * 1_000_000 + siblings * 10 + Math.max(...shares);
}
