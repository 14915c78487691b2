/** One node of a DaemonSet as the informers have it. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { type Node, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type Matcher } from '../../../shared/kube/objects/selectors.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import {
  type CurrentRevision,
  type DaemonNode,
  toDaemonPod,
} from '../../decisions/daemonsets/daemon-node.js';
import {
  compilePlacement,
  type PlacementNode,
  type PlacementVerdict,
} from '../../decisions/placement/placement.js';
import { BY_OWNER, type Informers, PODS_BY_TARGET_NODE } from '../../informers/informer.js';

type Placer = (node: PlacementNode) => PlacementVerdict;

/** By the informers' object: it is never changed, only replaced. */
const placers = new WeakMap<DaemonSet, Placer>();

/** Whether the node should run the DaemonSet's Pod, and may keep one. */
export function placementVerdict(node: PlacementNode, daemonSet: DaemonSet): PlacementVerdict {
  const known = placers.get(daemonSet);
  if (known) return known(node);
  const placer = compilePlacement(daemonSet.spec.template.spec);
  placers.set(daemonSet, placer);
  return placer(node);
}

/** What a place is read from: informers, or who stands in for them. */
export interface NodeReader {
  pods: Pick<Informers['pods'], 'indexed'>;
  nodes: Pick<Informers['nodes'], 'get' | 'list'>;
}

/** Whose an object is to one DaemonSet (pkg/controller ControllerRefManager). */
type Claim = 'owned' | 'adopt' | 'release' | 'foreign';

/** What is owned but no longer matches is to be released; an orphan that matches, adopted. */
export function claimOf(daemonSet: DaemonSet, matcher: Matcher, { metadata }: Pick<Pod, 'metadata'>): Claim {
  const owner = controllerOf(metadata);
  const matches = matcher.matches(metadata.labels);
  if (owner) {
    if (owner.uid !== daemonSet.metadata.uid) return 'foreign';
    return matches ? 'owned' : 'release';
  }
  return matches && metadata.deletionTimestamp === undefined ? 'adopt' : 'foreign';
}

/** A Pod whose owner is to change. */
interface ClaimedPod {
  pod: Pod;
  claim: 'adopt' | 'release';
}

/** The Pods whose target is this node: those that are the DaemonSet's, and those it has to adopt or release first. */
export function podsOnNode(
  informers: Pick<NodeReader, 'pods'>,
  daemonSet: DaemonSet,
  matcher: Matcher,
  nodeName: string,
): { owned: Pod[]; claims: ClaimedPod[] } {
  const claims: ClaimedPod[] = [];
  const owned: Pod[] = [];
  for (const pod of informers.pods.indexed(PODS_BY_TARGET_NODE, nodeName)) {
    if (pod.metadata.namespace !== daemonSet.metadata.namespace) continue;
    const claim = claimOf(daemonSet, matcher, pod);
    if (claim === 'owned') owned.push(pod);
    else if (claim !== 'foreign') claims.push({ pod, claim });
  }
  return { owned, claims };
}

/** Every node that a DaemonSet has to do with: those that exist, and those that only its Pods still name. */
export function nodeNamesOf(informers: NodeReader, { metadata }: DaemonSet): Set<string> {
  const names = new Set<string>();
  for (const node of informers.nodes.list()) names.add(node.metadata.name);
  for (const pod of informers.pods.indexed(BY_OWNER, metadata.uid ?? '')) {
    const name = targetNodeOf(pod);
    if (name !== undefined) names.add(name);
  }
  return names;
}

/** The node, and the Pods on it whose owner is to change first. */
export interface DaemonNodeView {
  node: DaemonNode;
  claims: ClaimedPod[];
}

/** What else than the DaemonSet a view may go by. */
interface ViewOptions {
  /** As in `DaemonSetParts`. */
  restoredEpoch?: string | undefined;
  /** What the node's Pods are made of, where that is not the current revision. */
  pinnedTo?: DaemonSet | undefined;
  /** As in `DaemonSetParts`. */
  timeOf?: ((stored: string) => number) | undefined;
}

/** By the informers' object: it is never changed, only replaced. */
const matchers = new WeakMap<DaemonSet, Matcher>();

function matcherOf(daemonSet: DaemonSet): Matcher {
  const known = matchers.get(daemonSet);
  if (known) return known;
  const matcher = compileLabelSelector(daemonSet.spec.selector);
  matchers.set(daemonSet, matcher);
  return matcher;
}

/** Costs as much as there are Pods on that node. */
export function observeNode(
  informers: NodeReader,
  daemonSet: DaemonSet,
  current: CurrentRevision,
  name: string,
  { restoredEpoch, pinnedTo, timeOf }: ViewOptions = {},
): DaemonNodeView {
  const matcher = matcherOf(daemonSet);
  const { owned, claims } = podsOnNode(informers, daemonSet, matcher, name);
  const node = informers.nodes.get({ name });
  const pods = owned.map((pod) => toDaemonPod(pod, current, timeOf));
  // What another revision lets a node keep are not Pods of this one: once they are available nobody would look at them again.
  const hasCurrent = pods.some(({ updated, terminating }) => updated && !terminating);
  return {
    node: {
      name,
      exists: node !== undefined,
      ...placementOn(node, daemonSet, hasCurrent ? undefined : pinnedTo),
      isAwaitingResync:
        restoredEpoch !== undefined && node?.metadata.annotations?.[RESYNCED_IN_EPOCH] !== restoredEpoch,
      pods,
    },
    claims,
  };
}

/**
 * By the current template, save that a node whose Pods are made of another revision keeps what that one lets it keep, and gets
 * nothing that has no place there: a template that selects other nodes goes through the waves like any other.
 */
export function placementOn(
  node: Node | undefined,
  daemonSet: DaemonSet,
  pinnedTo: DaemonSet | undefined,
): Pick<DaemonNode, 'shouldRun' | 'shouldContinueRunning' | 'isBlocked'> {
  if (!node) return { shouldRun: false, shouldContinueRunning: false };
  const { shouldRun, shouldContinueRunning } = placementVerdict(node, daemonSet);
  const held = pinnedTo && placementVerdict(node, pinnedTo);
  return {
    shouldRun,
    shouldContinueRunning: shouldContinueRunning || held?.shouldContinueRunning === true,
    ...(shouldRun && held?.shouldRun === false && { isBlocked: true }),
  };
}
