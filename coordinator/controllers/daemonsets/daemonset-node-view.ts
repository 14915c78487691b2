/** Reads the state of a DaemonSet's node from informers. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { type Node, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector, type Matcher } from '../../../shared/kube/objects/selectors.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import {
  type CurrentRevision,
  type DaemonNode,
  NO_VALUES,
  toDaemonPod,
} from '../../decisions/daemonsets/daemon-node.js';
import {
  compilePlacement,
  type PlacementNode,
  type PlacementVerdict,
  whenOnline,
} from '../../decisions/placement/placement.js';
import { preemptorOf } from '../../decisions/placement/preemption.js';
import {
  BY_OWNER,
  type Informers,
  PODS_BY_NODE,
  PODS_BY_NOMINATED_NODE,
  PODS_BY_TARGET_NODE,
} from '../../informers/informer.js';

import { type NodeSettingsReader, nodeTemplate } from '../host-values/node-template.js';

type Placer = (node: PlacementNode) => PlacementVerdict;

/** Keyed by the informers' objects, which are replaced and never changed. */
const placers = new WeakMap<DaemonSet, Placer>();

/** Returns whether the node should run the DaemonSet's Pod, and whether it may keep one. */
export function placementVerdict(node: PlacementNode, daemonSet: DaemonSet): PlacementVerdict {
  const known = placers.get(daemonSet);
  if (known) return known(node);
  const placer = compilePlacement(daemonSet.spec.template.spec);
  placers.set(daemonSet, placer);
  return placer(node);
}

/** Informers, or an overlay of them. */
export interface NodeReader extends NodeSettingsReader {
  pods: Pick<Informers['pods'], 'indexed'>;
  nodes: Pick<Informers['nodes'], 'get' | 'list'>;
}

/** The relation of an object to a DaemonSet (pkg/controller ControllerRefManager). */
type Claim = 'owned' | 'adopt' | 'release' | 'foreign';

/** An owned object that no longer matches is released. A matching orphan is adopted. */
export function claimOf(daemonSet: DaemonSet, matcher: Matcher, { metadata }: Pick<Pod, 'metadata'>): Claim {
  const owner = controllerOf(metadata);
  const matches = matcher.matches(metadata.labels);
  if (owner) {
    if (owner.uid !== daemonSet.metadata.uid) return 'foreign';
    return matches ? 'owned' : 'release';
  }
  return matches && metadata.deletionTimestamp === undefined ? 'adopt' : 'foreign';
}

/** A Pod that has to be adopted or released. */
interface ClaimedPod {
  pod: Pod;
  claim: 'adopt' | 'release';
}

/** Returns the DaemonSet's Pods that target this node, and the Pods to adopt or release first. */
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

/** Returns the Pod of higher priority that has taken the room of this unbound Pod on the node. */
export function preemptorOn(
  { pods, nodes }: Pick<NodeReader, 'pods' | 'nodes'>,
  nodeName: string,
  waiting: Pod,
): Pod | undefined {
  const node = waiting.spec.nodeName ? undefined : nodes.get({ name: nodeName });
  if (!node) return undefined;
  const others = [PODS_BY_NOMINATED_NODE, PODS_BY_NODE].flatMap((index) => pods.indexed(index, nodeName));
  return preemptorOf(waiting, node, others);
}

/** Returns all existing nodes, and nodes that only the DaemonSet's Pods name. */
export function nodeNamesOf(
  informers: Pick<NodeReader, 'pods' | 'nodes'>,
  { metadata }: DaemonSet,
): Set<string> {
  const names = new Set<string>();
  for (const node of informers.nodes.list()) names.add(node.metadata.name);
  for (const pod of informers.pods.indexed(BY_OWNER, metadata.uid ?? '')) {
    const name = targetNodeOf(pod);
    if (name !== undefined) names.add(name);
  }
  return names;
}

/** A node, and its Pods that have to be adopted or released first. */
export interface DaemonNodeView {
  node: DaemonNode;
  claims: ClaimedPod[];
}

interface ViewOptions {
  /** As in `DaemonSetDeps`. */
  restoredEpoch?: string | undefined;
  /** The DaemonSet with the template of which the node's Pods are made, if that is not the current one. */
  pinnedTo?: DaemonSet | undefined;
  /** As in `DaemonSetDeps`. */
  timeOf?: ((stored: string) => number) | undefined;
}

/** Keyed by the informers' objects, which are replaced and never changed. */
const matchers = new WeakMap<DaemonSet, Matcher>();

function matcherOf(daemonSet: DaemonSet): Matcher {
  const known = matchers.get(daemonSet);
  if (known) return known;
  const matcher = compileLabelSelector(daemonSet.spec.selector);
  matchers.set(daemonSet, matcher);
  return matcher;
}

/** The cost is proportional to the Pods on the node. */
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
  const { own, updateRefusal } = currentOn(informers, daemonSet, current, node);
  const pods = owned.map((pod) => ({
    ...toDaemonPod(pod, own, timeOf),
    ...(preemptorOn(informers, name, pod) && { isPreempted: true }),
  }));
  // A pinned revision must not keep Pods of the current one. They would stay where they should not run.
  const hasCurrent = pods.some(({ updated, terminating }) => updated && !terminating);
  // Without this check, a Pod that the current template removes from the node would wait for a value to be removed.
  const isRemoved =
    updateRefusal !== undefined && node && !placementVerdict(node, daemonSet).shouldContinueRunning;
  const createRefusal = pinnedTo
    ? currentOn(informers, pinnedTo, current, node).updateRefusal
    : updateRefusal;
  const placement = placementOn(node, daemonSet, hasCurrent ? undefined : pinnedTo);
  // Without this mark no event would wake the node when it is no longer pinned.
  const isBlocked = placement.shouldRun && createRefusal !== undefined && updateRefusal === undefined;
  return {
    node: {
      name,
      exists: node !== undefined,
      ...placement,
      ...(isBlocked && { isBlocked }),
      isAwaitingResync:
        restoredEpoch !== undefined && node?.metadata.annotations?.[RESYNCED_IN_EPOCH] !== restoredEpoch,
      ...(createRefusal !== undefined && { createRefusal }),
      ...(updateRefusal !== undefined && !isRemoved && { updateRefusal }),
      pods,
    },
    claims,
  };
}

/**
 * Returns the revision with the node's overrides and values, and why they cannot be rendered. Without them no Pod is
 * current: otherwise a rollout of unusable values would be reported as completed.
 */
export function currentOn(
  reader: NodeSettingsReader,
  daemonSet: DaemonSet,
  current: CurrentRevision,
  node: Node | undefined,
): { own: CurrentRevision; updateRefusal?: string } {
  if (!node) return { own: current };
  const made = nodeTemplate(reader, daemonSet, node);
  if (made.kind === 'refused')
    return { own: { ...current, nodeValues: NO_VALUES }, updateRefusal: made.message };
  const { overrides, values } = made;
  return {
    own: { ...current, nodeOverrides: overrides, ...(values && { nodeValues: values.resolved.text }) },
  };
}

/**
 * Uses the current template. A node that is pinned to another revision keeps Pods which that revision allows, and gets
 * no new Pod that it does not allow. A template that selects other nodes goes through the waves like any other.
 */
export function placementOn(
  node: Node | undefined,
  daemonSet: DaemonSet,
  pinnedTo: DaemonSet | undefined,
): Pick<DaemonNode, 'shouldRun' | 'shouldContinueRunning' | 'isEligibleOnReturn' | 'isBlocked'> {
  if (!node) return { shouldRun: false, shouldContinueRunning: false };
  const { shouldRun, shouldContinueRunning } = placementVerdict(node, daemonSet);
  const held = pinnedTo && placementVerdict(node, pinnedTo);
  const isEligibleOnReturn = !shouldRun && placementVerdict(whenOnline(node), daemonSet).shouldRun;
  return {
    shouldRun,
    shouldContinueRunning: shouldContinueRunning || held?.shouldContinueRunning === true,
    ...(isEligibleOnReturn && { isEligibleOnReturn }),
    ...(shouldRun && held?.shouldRun === false && { isBlocked: true }),
  };
}
