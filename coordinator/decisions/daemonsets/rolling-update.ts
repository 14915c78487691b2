/** Which nodes get the current revision now (pkg/controller/daemon/update.go rollingUpdate). */
import type { DaemonSetUpdateStrategy } from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  type DaemonNode,
  type DaemonPod,
  isAvailable,
  type PendingHandover,
  presentPods,
} from './daemon-node.js';
import { updateBudget } from './update-strategy.js';

/**
 * Where a node stands in an update. Only live Pods count. "Retiring": an old Pod on a node that should no longer run
 * the DaemonSet. "Pair": an old and a new Pod side by side. "Under way": a replacement was ordered and is not seen yet.
 * "Turned": the host of a Pod is to replace it by itself, and may do so at any moment. "Unheard": since a restore
 * nobody knows how its Pods do, and what the store says of them is as old as the backup. "Withheld": there is no Pod, and
 * none is made, for the revision that it would be of has no place there.
 */
export const NODE_UPDATE_STATES = [
  'excess',
  'empty',
  'newAvailable',
  'newUnavailable',
  'oldAvailable',
  'oldUnavailable',
  'retiringAvailable',
  'retiringUnavailable',
  'pairAvailable',
  'pairUnavailable',
  'underWay',
  'turned',
  'unheard',
  'withheld',
] as const;

/** One of `SITUATIONS`. */
export type NodeUpdateState = (typeof NODE_UPDATE_STATES)[number];

/** A node's place in the update and the Pods it concerns. */
export interface NodeUpdateStatus {
  state: NodeUpdateState;
  /** Counts as covered: by its old Pod where there is one, else by the new. */
  covered: boolean;
  /** Where it is the host's turn: the Pod that bears that turn. */
  oldPod?: string;
}

/** The fleet as counted: enough to choose from without looking at each node. */
export interface Fleet {
  /** Nodes that should run the DaemonSet. */
  desired: number;
  /** Nodes with `covered`. */
  covered: number;
  /** Names of the nodes in each situation. */
  nodes: Readonly<Record<NodeUpdateState, ReadonlySet<string>>>;
  /** Nodes beside these without an available Pod, and without a turn: they use budget. */
  alsoUnavailable?: number;
}

/** Names of nodes. On `create` a new Pod joins the old one; on `replace` the old one is deleted. */
export interface Replacements {
  create: string[];
  replace: string[];
}

/** Undefined for a node that is neither eligible nor holds a Pod: it is no part of the update. */
export function nodeUpdateStatus(
  node: DaemonNode,
  minReadySeconds: number,
  now: number,
): NodeUpdateStatus | undefined {
  const pods = presentPods(node);
  if (!node.shouldRun && pods.length === 0) return undefined;
  if (node.awaitingResync && pods.length > 0) return { state: 'unheard', covered: false };
  const live = pods.filter((pod) => !pod.terminating);
  const [newPod, ...moreNew] = live.filter((pod) => pod.updated);
  const [oldPod, ...moreOld] = live.filter((pod) => !pod.updated);
  if (moreNew.length > 0 || moreOld.length > 0) return { state: 'excess', covered: false };
  const available = (pod: DaemonPod | undefined) =>
    pod !== undefined && !pod.confirming && isAvailable(pod, minReadySeconds, now);
  const covered = available(oldPod ?? newPod);
  if (!oldPod) {
    if (!newPod) return { state: node.isBlocked ? 'withheld' : 'empty', covered };
    // Its turn to a revision from which the DaemonSet has come back: until that is taken back, its host may begin it.
    if (newPod.handover && mayBegin(newPod.handover, now))
      return { state: 'turned', covered, oldPod: newPod.name };
    return { state: covered ? 'newAvailable' : 'newUnavailable', covered };
  }
  const about = { covered, oldPod: oldPod.name };
  if (newPod) return { state: available(newPod) ? 'pairAvailable' : 'pairUnavailable', ...about };
  const { handover: turn } = oldPod;
  if (turn && mayBegin(turn, now)) return { state: 'turned', ...about };
  if (node.shouldRun) return { state: covered ? 'oldAvailable' : 'oldUnavailable', ...about };
  return { state: covered ? 'retiringAvailable' : 'retiringUnavailable', ...about };
}

/** Whatever was decided since: its host may have begun before it hears of that. */
function mayBegin(
  { lastWindowEndsAt = Number.POSITIVE_INFINITY, withdrawn }: PendingHandover,
  now: number,
): boolean {
  return withdrawn !== 'Heard' && lastWindowEndsAt > now;
}

/** The first `count` of a set; none when negative. */
function take(names: Iterable<string>, count: number): string[] {
  const taken: string[] = [];
  for (const name of names) {
    if (taken.length >= count) break;
    taken.push(name);
  }
  return taken;
}

/** What may be replaced now; nothing more than the budget allows, save Pods that are of no use anyway. */
export function chooseReplacements(
  fleet: Fleet,
  strategy: DaemonSetUpdateStrategy | undefined,
): Replacements {
  const { maxSurge, maxUnavailable } = updateBudget(strategy, fleet.desired);
  return maxSurge > 0 ? surge(fleet, maxSurge) : replaceInPlace(fleet, maxUnavailable);
}

/** Old Pods that are unavailable go whatever the budget, and use it up. */
function replaceInPlace({ nodes, alsoUnavailable = 0 }: Fleet, maxUnavailable: number): Replacements {
  const useless = [...nodes.oldUnavailable, ...nodes.retiringUnavailable];
  const unavailable =
    useless.length +
    alsoUnavailable +
    nodes.excess.size +
    nodes.empty.size +
    nodes.newUnavailable.size +
    nodes.pairAvailable.size +
    nodes.pairUnavailable.size +
    nodes.underWay.size +
    nodes.turned.size +
    nodes.unheard.size +
    nodes.withheld.size;
  const left = maxUnavailable - unavailable;
  const first = take(nodes.oldAvailable, left);
  const then = take(nodes.retiringAvailable, left - first.length);
  return { create: [], replace: [...useless, ...first, ...then] };
}

/** A successor starts beside its predecessor; Pods on nodes to be left go when enough others cover for them. */
function surge({ nodes, covered, desired }: Fleet, maxSurge: number): Replacements {
  const surging = [nodes.excess, nodes.pairUnavailable, nodes.underWay, nodes.turned, nodes.unheard]
    .map(({ size }) => size)
    .reduce((sum, size) => sum + size);
  const spare = take(nodes.retiringAvailable, covered - desired);
  return {
    create: [...nodes.oldUnavailable, ...take(nodes.oldAvailable, maxSurge - surging)],
    replace: [...nodes.retiringUnavailable, ...nodes.pairAvailable, ...spare],
  };
}
