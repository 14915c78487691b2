/**
 * Decides which Pods of lower priority end so that a Pod fits (pkg/scheduler/framework/preemption and its plugin
 * defaultpreemption).
 */

import { handoverOf } from '../../../shared/kube/handovers/host-handover.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  DISRUPTION_TARGET,
  PREEMPT_NEVER,
  PREEMPTION_BY_SCHEDULER,
  podPriority,
} from '../../../shared/kube/pods/priority-class.js';
import { staticPodUid } from '../../../shared/kube/pods/static-pod-annotations.js';
import { partitionByBudgets, type SpendableBudgets } from '../policy/preemption-budgets.js';
import { fitRefusal } from './pod-fit.js';
import { plusPod, type UsageSource, usageOfPods } from './pod-resource-usage.js';

export const NO_VICTIMS = 'No preemption victims found for incoming pod';
export const NOT_HELPFUL = 'Preemption is not helpful for scheduling';

/** A node on which the preemptor does not fit at present. */
interface PreemptionNode {
  node: Node;
  /** The Pods that are bound to the node. */
  pods: readonly Pod[];
  /** Pods that use the node as well and cannot be victims: writes in flight, nominated Pods of at least this priority. */
  reserved: readonly UsageSource[];
  /** The PodDisruptionBudgets of all namespaces. */
  budgets: SpendableBudgets;
}

/**
 * Victims in descending importance, those that violate a budget first, and the number of those. Or why no choice of
 * victims makes the preemptor fit.
 */
export type VictimChoice = { victims: readonly Pod[]; violations: number } | { reasons: readonly string[] };

export function usageSource(pod: Pod): UsageSource {
  return { spec: pod.spec, next: handoverOf(pod)?.successor.spec };
}

/**
 * Ends all Pods of lower priority in thought. If the preemptor then fits, returns as many as possible to the node: first
 * those whose end violates a budget, and the most important ones first (SelectVictimsOnNode). The rest are the victims.
 */
export function selectVictims(
  preemptor: Pod,
  { node, pods, reserved, budgets }: PreemptionNode,
): VictimChoice {
  const present = pods.filter((pod) => !isPodTerminal(pod));
  const candidates = present.filter((pod) => mayBeVictim(pod, preemptor));
  if (candidates.length === 0) return { reasons: [NO_VICTIMS] };
  const others = present.filter((pod) => !candidates.includes(pod));
  let usage = usageOfPods([...others.map(usageSource), ...reserved]);
  const refusal = fitRefusal(preemptor, node, usage);
  if (refusal) return { reasons: refusal.reasons };
  const [violating, harmless] = partitionByBudgets(candidates.sort(compareImportance), budgets);
  const victimsAmong = (ordered: readonly Pod[]): Pod[] =>
    ordered.filter((pod) => {
      const withPod = plusPod(usage, usageSource(pod));
      if (fitRefusal(preemptor, node, withPod)) return true;
      usage = withPod;
      return false;
    });
  const violated = victimsAmong(violating);
  return { victims: [...violated, ...victimsAmong(harmless)], violations: violated.length };
}

/** A static Pod's host would run it again, so its end frees nothing. */
function mayBeVictim(pod: Pod, preemptor: Pod): boolean {
  return podPriority(pod) < podPriority(preemptor) && staticPodUid(pod) === undefined;
}

/** A Pod that has not started counts as started now, as upstream's GetPodStartTime. */
function startOf({ status }: Pod): number {
  const at = Date.parse(status?.startTime ?? '');
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at;
}

/**
 * Sorts the most important Pod first: higher priority, then earlier start (util.MoreImportantPod). Two rules are our
 * own. A Pod that is ending already comes last, because its end costs nothing more. Of equal priority, a Pod with a
 * handover in flight comes first, because its host is busy with its replacement.
 */
function compareImportance(a: Pod, b: Pod): number {
  const isEnding = ({ metadata }: Pod) => (metadata.deletionTimestamp ? 1 : 0);
  const hasHandover = (pod: Pod) => (handoverOf(pod) ? 1 : 0);
  return (
    isEnding(a) - isEnding(b) ||
    podPriority(b) - podPriority(a) ||
    hasHandover(b) - hasHandover(a) ||
    compareNumbers(startOf(a), startOf(b)) ||
    (a.metadata.name < b.metadata.name ? -1 : 1)
  );
}

function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The nominated node of a preemptor, and whether the Pod cannot fit there whatever ends. */
export interface NominatedNode {
  pods: readonly Pod[];
  isFinal: boolean;
}

/** Returns why the Pod may end no others at present, or undefined (PodEligibleToPreemptOthers). */
export function preemptionObjection(
  preemptor: Pod,
  nominated: NominatedNode | undefined,
): string | undefined {
  if (preemptor.spec.preemptionPolicy === PREEMPT_NEVER) return 'not eligible due to preemptionPolicy=Never.';
  if (!nominated || nominated.isFinal) return undefined;
  const waits = nominated.pods.some(
    (pod) => podPriority(pod) < podPriority(preemptor) && isEndingByPreemption(pod),
  );
  return waits ? 'not eligible due to a terminating pod on the nominated node.' : undefined;
}

/** True for a victim whose host has not confirmed its end (podTerminatingByPreemption). */
export function isEndingByPreemption({ metadata, status }: Pod): boolean {
  if (!metadata.deletionTimestamp) return false;
  const condition = findCondition(status?.conditions, DISRUPTION_TARGET);
  return condition?.status === 'True' && condition.reason === PREEMPTION_BY_SCHEDULER;
}

/** A node with the victims on it. There is at least one. */
export interface PreemptionCandidate {
  node: string;
  victims: readonly Pod[];
  /** Victims whose end violates a budget. */
  violations: number;
}

/** Added to each priority, so that fewer victims of negative priority are better than more. */
const PRIORITY_OFFSET = 2 ** 31;

/** In this order, lower is better (pickOneNodeForPreemption). */
const COSTS: readonly ((candidate: PreemptionCandidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => highestPriority(victims),
  ({ victims }) => victims.reduce((sum, pod) => sum + podPriority(pod) + PRIORITY_OFFSET, 0),
  ({ victims }) => victims.length,
  ({ victims }) => -earliestStart(victims),
];

function highestPriority(victims: readonly Pod[]): number {
  return Math.max(...victims.map(podPriority));
}

/** Of the victims with the highest priority (util.GetEarliestPodStartTime). */
function earliestStart(victims: readonly Pod[]): number {
  const highest = highestPriority(victims);
  return Math.min(...victims.filter((pod) => podPriority(pod) === highest).map(startOf));
}

/** Returns the candidate whose victims cost least. Of equal ones the first counts. */
export function cheapestCandidate(
  candidates: readonly PreemptionCandidate[],
): PreemptionCandidate | undefined {
  let left = candidates;
  for (const costOf of COSTS) {
    if (left.length <= 1) break;
    const costs = left.map(costOf);
    const least = costs.reduce((a, b) => Math.min(a, b));
    left = left.filter((_, index) => costs[index] === least);
  }
  return left[0];
}

const MIN_CANDIDATES = 100;

/** Returns how many candidates are enough for a choice among `nodes` nodes: 10 %, at least 100 (DefaultPreemptionArgs). */
export function enoughCandidates(nodes: number): number {
  return Math.max(MIN_CANDIDATES, Math.floor(nodes / 10));
}

/**
 * Returns a Pod of higher priority that keeps the unbound Pod from the node, and for which Pods have ended there. Such a
 * Pod keeps its nominated node when it is bound. Without the Pods of this kind, the unbound Pod must fit: otherwise it
 * waits for another reason, such as requests that exceed the node, and its rollout has to fail. `others`: the Pods that
 * are bound to the node, or nominated for it.
 */
export function preemptorOf(waiting: Pod, node: Node, others: readonly Pod[]): Pod | undefined {
  if (waiting.spec.nodeName) return undefined;
  const priority = podPriority(waiting);
  const present = others.filter((pod) => !isPodTerminal(pod) && pod.metadata.uid !== waiting.metadata.uid);
  const isPreemptor = (pod: Pod) =>
    pod.status?.nominatedNodeName === node.metadata.name && podPriority(pod) > priority;
  const preemptors = present.filter(isPreemptor);
  if (preemptors.length === 0) return undefined;
  // The capacity of a Pod that is ending returns by itself.
  const rest = present.filter(
    (pod) =>
      !isPreemptor(pod) &&
      !pod.metadata.deletionTimestamp &&
      (pod.spec.nodeName !== undefined || podPriority(pod) >= priority),
  );
  const refusedBeside = (pods: readonly Pod[]) =>
    fitRefusal(waiting, node, usageOfPods(pods.map(usageSource)));
  return refusedBeside([...rest, ...preemptors]) && !refusedBeside(rest) ? preemptors[0] : undefined;
}
