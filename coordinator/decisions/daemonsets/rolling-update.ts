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

/** What an update state says about a node's live Pods. */
interface UpdateStateParts {
  /** A Pod of an older revision. */
  old?: true;
  /** A Pod of the current revision. */
  new?: true;
  /** A Pod of the node is available. */
  serves?: true;
  /** The node should no longer run the DaemonSet. */
  retiring?: true;
  /** The node's update has not started. */
  pending?: true;
}

/**
 * Each state of a node in an update, with its parts. Terminating Pods do not count.
 * `excess`: more than one Pod of the same age group. `pair…`: an old and a new Pod side by side (surge).
 * `inProgress`: an action was ordered and its result is not observed yet. `handedOver`: the host replaces the Pod
 * itself, at any time. `awaitingResync`: the store was restored from a backup and the host has not reported since.
 * `blocked`: the node has no Pod and gets none, because the revision to which it is pinned does not run there.
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
} as const satisfies Record<string, UpdateStateParts>;

export type NodeUpdateState = keyof typeof UPDATE_STATES;

export const NODE_UPDATE_STATES = Object.keys(UPDATE_STATES) as readonly NodeUpdateState[];

export function partsOf(state: NodeUpdateState): UpdateStateParts {
  return UPDATE_STATES[state];
}

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
  if (node.isAwaitingResync && pods.length > 0) return { state: 'awaitingResync', covered: false };
  const live = pods.filter((pod) => !pod.terminating);
  const [newPod, ...moreNew] = live.filter((pod) => pod.updated);
  const [oldPod, ...moreOld] = live.filter((pod) => !pod.updated);
  if (moreNew.length > 0 || moreOld.length > 0) return { state: 'excess', covered: false };
  const available = (pod: DaemonPod | undefined) =>
    pod !== undefined && !pod.confirming && isAvailable(pod, minReadySeconds, now);
  const covered = available(oldPod ?? newPod);
  if (!oldPod) {
    if (!newPod) return { state: node.isBlocked ? 'blocked' : 'empty', covered };
    // Its turn to a revision from which the DaemonSet has come back: until that is taken back, its host may begin it.
    if (newPod.handover && mayStart(newPod.handover, now))
      return { state: 'handedOver', covered, oldPod: newPod.name };
    return { state: covered ? 'newAvailable' : 'newUnavailable', covered };
  }
  const about = { covered, oldPod: oldPod.name };
  if (newPod) return { state: available(newPod) ? 'pairAvailable' : 'pairUnavailable', ...about };
  const { handover: turn } = oldPod;
  if (turn && mayStart(turn, now)) return { state: 'handedOver', ...about };
  if (node.shouldRun) return { state: covered ? 'oldAvailable' : 'oldUnavailable', ...about };
  return { state: covered ? 'retiringAvailable' : 'retiringUnavailable', ...about };
}

/** Whatever was decided since: its host may have begun before it hears of that. */
function mayStart(
  { lastWindowEndsAt = Number.POSITIVE_INFINITY, withdrawn }: PendingHandover,
  now: number,
): boolean {
  return withdrawn !== 'Acknowledged' && lastWindowEndsAt > now;
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
    nodes.inProgress.size +
    nodes.handedOver.size +
    nodes.awaitingResync.size +
    nodes.blocked.size;
  const left = maxUnavailable - unavailable;
  const first = take(nodes.oldAvailable, left);
  const then = take(nodes.retiringAvailable, left - first.length);
  return { create: [], replace: [...useless, ...first, ...then] };
}

/** A successor starts beside its predecessor; Pods on nodes to be left go when enough others cover for them. */
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
