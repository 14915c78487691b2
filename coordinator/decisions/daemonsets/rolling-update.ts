/** Decides which nodes get the current revision now (pkg/controller/daemon/update.go rollingUpdate). */
import type { DaemonSetUpdateStrategy } from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  type DaemonNode,
  type DaemonPod,
  isAvailable,
  type PendingHandover,
  presentPods,
} from './daemon-node.js';
import { updateBudget } from './update-strategy.js';

/** Facts about the Pods of a node in one update state. */
interface UpdateStateParts {
  /** The node has a Pod of an older revision. */
  old?: true;
  /** The node has a Pod of the current revision. */
  new?: true;
  /** A Pod of the node is available. */
  serves?: true;
  /** The node should not run the DaemonSet any longer. */
  retiring?: true;
  /** The update of the node has not started. */
  pending?: true;
}

/**
 * All states of a node in an update. Terminating Pods do not count. `excess`: several old or several new Pods. `pair…`:
 * one old and one new Pod side by side (surge). `inProgress`: an action was ordered, and its result is not observed
 * yet. `handedOver`: the host replaces the Pod itself, and may do so at any time. `awaitingResync`: the store was
 * restored from a backup and the host has not reported since. `blocked`: the node has no Pod and gets none, because the
 * revision to which it is pinned does not run or cannot be rendered there. `unresolved`: the node keeps its old Pod or
 * none, because a value that the next Pod needs is missing; it uses no budget.
 */
const UPDATE_STATES = {
  excess: {},
  empty: { pending: true },
  newAvailable: { new: true, serves: true },
  newUnavailable: { new: true },
  oldAvailable: { old: true, serves: true, pending: true },
  oldUnavailable: { old: true, pending: true },
  retiringAvailable: { old: true, serves: true, retiring: true, pending: true },
  retiringUnavailable: { old: true, retiring: true, pending: true },
  pairAvailable: { old: true, new: true, serves: true },
  pairUnavailable: { old: true, new: true },
  inProgress: {},
  handedOver: { old: true },
  awaitingResync: { pending: true },
  blocked: { pending: true },
  unresolved: { pending: true },
} as const satisfies Record<string, UpdateStateParts>;

export type NodeUpdateState = keyof typeof UPDATE_STATES;

export const NODE_UPDATE_STATES = Object.keys(UPDATE_STATES) as readonly NodeUpdateState[];

export function partsOf(state: NodeUpdateState): UpdateStateParts {
  return UPDATE_STATES[state];
}

/** A node's state in the update. */
export interface NodeUpdateStatus {
  state: NodeUpdateState;
  /** True if the old Pod is available, or the new one if there is no old one. */
  covered: boolean;
  /** The Pod to replace, or the Pod that carries the handover. */
  oldPod?: string;
}

/** Counts of a fleet: enough to choose nodes without visiting each. */
export interface Fleet {
  /** Nodes that should run the DaemonSet. */
  desired: number;
  /** Nodes with an available Pod, as in `NodeUpdateStatus.covered`. */
  covered: number;
  /** Names of the nodes in each state. */
  nodes: Readonly<Record<NodeUpdateState, ReadonlySet<string>>>;
  /** Nodes that are not in `nodes`, but have no available Pod and use budget. */
  alsoUnavailable?: number;
}

/** Names of nodes. `create`: a new Pod joins the old one. `replace`: the old Pod is deleted. */
export interface Replacements {
  create: string[];
  replace: string[];
}

/**
 * Returns undefined for a node that takes no part in the update: it is not eligible and has no Pod, or its Pod may stay
 * there and lacks a value. A Pod that is deleted because of a missing value could not be created again on a tainted node.
 * An offline node stays in the update. Otherwise a wave of offline nodes would be empty, and the next wave would open
 * although no node had tested the revision.
 */
export function nodeUpdateStatus(
  node: DaemonNode,
  minReadySeconds: number,
  now: number,
): NodeUpdateStatus | undefined {
  const pods = presentPods(node);
  if (!node.shouldRun && pods.length === 0) return undefined;
  if (node.isAwaitingResync && pods.length > 0) return { state: 'awaitingResync', covered: false };
  const live = pods.filter((pod) => !pod.terminating);
  const [newPod, ...moreNew] = live.filter((pod) => pod.updated);
  const [oldPod, ...moreOld] = live.filter((pod) => !pod.updated);
  if (moreNew.length > 0 || moreOld.length > 0) return { state: 'excess', covered: false };
  const available = (pod: DaemonPod | undefined) =>
    pod !== undefined && !pod.confirming && isAvailable(pod, minReadySeconds, now);
  const covered = available(oldPod ?? newPod);
  if (node.updateRefusal !== undefined && !newPod && !mayStartOf(oldPod, now))
    return node.shouldRun || node.isEligibleOnReturn ? { state: 'unresolved', covered } : undefined;
  if (!oldPod) {
    if (!newPod) return { state: node.isBlocked ? 'blocked' : 'empty', covered };
    // The template was changed back after the handover was requested. Until it is withdrawn, the host may start it.
    if (newPod.handover && mayStart(newPod.handover, now))
      return { state: 'handedOver', covered, oldPod: newPod.name };
    return { state: covered ? 'newAvailable' : 'newUnavailable', covered };
  }
  const about = { covered, oldPod: oldPod.name };
  if (newPod) return { state: available(newPod) ? 'pairAvailable' : 'pairUnavailable', ...about };
  const { handover } = oldPod;
  if (handover && mayStart(handover, now)) return { state: 'handedOver', ...about };
  if (node.shouldRun) return { state: covered ? 'oldAvailable' : 'oldUnavailable', ...about };
  return { state: covered ? 'retiringAvailable' : 'retiringUnavailable', ...about };
}

function mayStartOf(pod: DaemonPod | undefined, now: number): boolean {
  return pod?.handover !== undefined && mayStart(pod.handover, now);
}

/** A host may start a handover until it acknowledges that it was withdrawn. */
function mayStart(
  { lastWindowEndsAt = Number.POSITIVE_INFINITY, withdrawn }: PendingHandover,
  now: number,
): boolean {
  return withdrawn !== 'Acknowledged' && lastWindowEndsAt > now;
}

/** Returns the first `count` names, or none if `count` is negative. */
function take(names: Iterable<string>, count: number): string[] {
  const taken: string[] = [];
  for (const name of names) {
    if (taken.length >= count) break;
    taken.push(name);
  }
  return taken;
}

/** Returns the nodes to update now. Only Pods that are unavailable anyway may exceed the budget. */
export function chooseReplacements(
  fleet: Fleet,
  strategy: DaemonSetUpdateStrategy | undefined,
): Replacements {
  const { maxSurge, maxUnavailable } = updateBudget(strategy, fleet.desired);
  return maxSurge > 0 ? surge(fleet, maxSurge) : replaceInPlace(fleet, maxUnavailable);
}

/** Unavailable old Pods are replaced regardless of the budget, but use it up. */
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
    nodes.inProgress.size +
    nodes.handedOver.size +
    nodes.awaitingResync.size +
    nodes.blocked.size;
  const left = maxUnavailable - unavailable;
  const first = take(nodes.oldAvailable, left);
  const then = take(nodes.retiringAvailable, left - first.length);
  return { create: [], replace: [...useless, ...first, ...then] };
}

/** A successor starts next to its predecessor. A retiring Pod is deleted when enough other nodes are covered. */
function surge({ nodes, covered, desired }: Fleet, maxSurge: number): Replacements {
  const surging = [
    nodes.excess,
    nodes.pairUnavailable,
    nodes.inProgress,
    nodes.handedOver,
    nodes.awaitingResync,
  ]
    .map(({ size }) => size)
    .reduce((sum, size) => sum + size);
  const spare = take(nodes.retiringAvailable, covered - desired);
  return {
    create: [...nodes.oldUnavailable, ...take(nodes.oldAvailable, maxSurge - surging)],
    replace: [...nodes.retiringUnavailable, ...nodes.pairAvailable, ...spare],
  };
}
