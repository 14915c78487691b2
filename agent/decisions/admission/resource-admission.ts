/** Whether the host has the resources that a new Pod requests (pkg/kubelet/lifecycle/predicate.go, noderesources.Fits). */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { type Amounts, amounts, podRequests } from '../../../shared/kube/pods/pod-requests.js';
import type { ResourceList } from '../../../shared/kube/pods/pod-types.js';
import type { Rejection } from './pod-admission.js';
import { podsToPreempt, type Requirement, requirementsText } from './pod-preemption.js';
import { isCritical, type PodOfHost } from './pod-priority.js';

/**
 * Another Pod that counts against a new one. `active`: it uses its requests, or came first and will use them.
 * `leaving`: it stops, and its containers are not all gone. `undecided`: it came first and is not admitted yet, or this
 * agent has not inspected it yet.
 */
export interface OtherPod extends PodOfHost {
  uid: string;
  state: 'active' | 'leaving' | 'undecided';
}

/** Resources of the host for Pods, and the Pods that may use them. */
export interface HostCapacity {
  isStatic: boolean;
  allocatable: ResourceList;
  others: readonly OtherPod[];
}

/** `wait`: Pods that leave free enough, or a Pod before this one is undecided. `preempt`: end these Pods first. */
type ResourceAdmission =
  | { kind: 'admit' | 'wait' }
  | { kind: 'preempt'; victims: string[] }
  | { kind: 'reject'; rejection: Rejection };

/** Amounts in the scheduler's units. */
interface InsufficientResource {
  resource: string;
  requested: number;
  used: number;
  capacity: number;
}

/**
 * Decides on a Pod that has not started. Unlike a kubelet, the host waits for Pods that stop instead of rejecting the
 * new Pod: the coordinator may assign the resources of a Pod that was deleted without grace.
 */
export function resourceAdmission(pod: PodOfHost['pod'], capacity: HostCapacity): ResourceAdmission {
  const { allocatable, others, isStatic } = capacity;
  if (insufficientResources(pod, allocatable, others).length === 0) return { kind: 'admit' };
  if (others.some(({ state }) => state === 'undecided')) return { kind: 'wait' };
  const active = others.filter(({ state }) => state === 'active');
  const lacking = insufficientResources(pod, allocatable, active);
  const [first] = lacking;
  if (!first) return { kind: 'wait' };
  if (!isCritical(pod, isStatic)) return { kind: 'reject', rejection: outOf(first) };
  const choice = podsToPreempt({ pod, isStatic }, active, lacking.map(missing));
  if (choice.kind === 'unmet') return { kind: 'reject', rejection: unrecoverable(choice.requirements) };
  return { kind: 'preempt', victims: choice.pods.map(({ uid }) => uid) };
}

/** Upstream's order of resources. Others follow as the manifest names them. */
const ORDER = ['cpu', 'memory', 'ephemeral-storage'];

/** Returns every resource of which too little is free. Resources that the host does not have are not checked. */
function insufficientResources(
  { spec }: PodOfHost['pod'],
  allocatable: ResourceList,
  others: readonly OtherPod[],
): InsufficientResource[] {
  const capacities = amounts(allocatable);
  const requests: Amounts = podRequests(spec);
  const uses = others.map(({ pod }) => podRequests(pod.spec));
  const rank = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  const names = Object.keys(requests).sort((a, b) => rank(a) - rank(b));
  const asked = names.flatMap((resource) => {
    const requested = ownValue(requests, resource) ?? 0;
    const used = uses.reduce((sum, use) => sum + (ownValue(use, resource) ?? 0), 0);
    return requested > 0 && resource !== 'pods' ? [{ resource, requested, used }] : [];
  });
  return [{ resource: 'pods', requested: 1, used: others.length }, ...asked].flatMap((each) => {
    const capacity = ownValue(capacities, each.resource);
    return capacity !== undefined && each.requested > capacity - each.used ? [{ ...each, capacity }] : [];
  });
}

function missing({ resource, requested, used, capacity }: InsufficientResource): Requirement {
  return { resource, quantity: requested - (capacity - used) };
}

function outOf({ resource, requested, used, capacity }: InsufficientResource): Rejection {
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, ${amounts}`,
  };
}

function unrecoverable(requirements: readonly Requirement[]): Rejection {
  const why = `no set of running pods found to reclaim resources: ${requirementsText(requirements)}`;
  return {
    reason: 'UnexpectedAdmissionError',
    message: `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: ${why}`,
  };
}
