/** Decides whether a Pod fits on a node, with the scheduler's reasons (pkg/scheduler/framework/plugins). */

import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { hostPorts, portsConflict } from '../../../shared/kube/pods/host-ports.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { matchesNodeAffinity } from './node-affinity.js';
import { amounts, podRequests, type ResourceUsage } from './pod-resource-usage.js';
import { findUntoleratedTaint, tolerates } from './taint-tolerations.js';

/** Pods with another scheduler name are ignored. */
export const DEFAULT_SCHEDULER = 'default-scheduler';

const UNSCHEDULABLE_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;

/**
 * Returns the reasons against the node; [] if the Pod fits. The first failed rule counts, in upstream's order:
 * unschedulable, node name, taints, affinity, ports, resources. `taken` includes Pods in flight.
 */
export function fitRefusals(pod: Pick<Pod, 'spec'>, node: Node, taken: ResourceUsage): string[] {
  const { spec } = pod;
  const tolerations = spec.tolerations ?? [];
  if (node.spec?.unschedulable && !tolerations.some((one) => tolerates(one, UNSCHEDULABLE_TAINT))) {
    return ['node(s) were unschedulable'];
  }
  if (spec.nodeName && spec.nodeName !== node.metadata.name) {
    return ["node(s) didn't match the requested node name"];
  }
  const taint = findUntoleratedTaint(node.spec?.taints ?? [], tolerations, ['NoSchedule', 'NoExecute']);
  if (taint) return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`];
  if (!matchesNodeAffinity(spec, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  if (hostPorts(spec).some((port) => taken.ports.some((other) => portsConflict(port, other)))) {
    return ["node(s) didn't have free ports for the requested pod ports"];
  }
  return resourceRefusals(pod, node, taken);
}

/** Returns every insufficient resource. Without a Pod limit, a node accepts any number. */
function resourceRefusals({ spec }: Pick<Pod, 'spec'>, node: Node, taken: ResourceUsage): string[] {
  const allocatable = amounts(node.status?.allocatable);
  const refusals = taken.pods + 1 > (allocatable.pods ?? Number.POSITIVE_INFINITY) ? ['Too many pods'] : [];
  for (const [name, request] of Object.entries(podRequests(spec))) {
    const free = (ownValue(allocatable, name) ?? 0) - (ownValue(taken.requests, name) ?? 0);
    if (request > 0 && request > free) refusals.push(`Insufficient ${name}`);
  }
  return refusals;
}

/** Returns the node in the Pod's required affinity if it names exactly one node, as for Pods of a DaemonSet. */
export function pinnedNode(pod: Pick<Pod, 'spec'>): string | undefined {
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required?.nodeSelectorTerms?.length === 1 ? targetNodeOf(pod) : undefined;
}

/** Reason under which the other nodes of a pinned Pod are counted. */
export const NOT_THE_PINNED_NODE = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

/** Reasons that more free capacity would solve. For all others, upstream reports that preemption does not help. */
const CURED_BY_CAPACITY = /^(Too many pods|Insufficient |node\(s\) didn't have free ports)/;

/** Counts nodes by the reasons against a Pod. */
export class FitRefusals {
  readonly #counts = new Map<string, number>();
  #nodes = 0;
  #lackCapacity = 0;

  add(reasons: readonly string[], nodes = 1): void {
    for (const reason of reasons) this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + nodes);
    this.#nodes += nodes;
    if (reasons.every((reason) => CURED_BY_CAPACITY.test(reason))) this.#lackCapacity += nodes;
  }

  /**
   * Formats `0/3 nodes are available: 1 Insufficient cpu, 2 …. preemption: 0/3 nodes are available: …`
   * (framework.FitError with the text of the plugin DefaultPreemption). Preemption is not implemented, so it never
   * finds a victim.
   */
  message(): string {
    if (this.#nodes === 0) return 'no nodes available to schedule pods';
    const preemption = new Map([
      ['No preemption victims found for incoming pod', this.#lackCapacity],
      ['Preemption is not helpful for scheduling', this.#nodes - this.#lackCapacity],
    ]);
    return `${this.#sum(this.#counts)} preemption: ${this.#sum(preemption)}`;
  }

  #sum(counts: ReadonlyMap<string, number>): string {
    const reasons = [...counts]
      .filter(([, count]) => count > 0)
      .map(([reason, count]) => `${count} ${reason}`);
    return `0/${this.#nodes} nodes are available: ${reasons.sort().join(', ')}.`;
  }
}

/** Lower is better: untolerated PreferNoSchedule taints first, then the share of the most used resource. */
export function nodeScore(pod: Pick<Pod, 'spec'>, node: Node, taken: ResourceUsage): number {
  const tolerations = pod.spec.tolerations ?? [];
  const avoided = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === 'PreferNoSchedule' && !tolerations.some((one) => tolerates(one, taint)),
  ).length;
  const allocatable = amounts(node.status?.allocatable);
  const shares = ['cpu', 'memory', 'pods'].map((name) => {
    const used = name === 'pods' ? taken.pods : (taken.requests[name] ?? 0);
    return allocatable[name] ? used / allocatable[name] : 0;
  });
  return avoided * 10 + Math.max(...shares);
}
