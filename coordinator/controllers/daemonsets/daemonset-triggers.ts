/**
 * Decides which keys a change enqueues. A change of one object never visits the whole fleet, except a change of a Node.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { type Node, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { controllerOf, type KubeObject, type ObjectMeta } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { BY_NAMESPACE, type Informers, type ObjectChange } from '../../informers/informer.js';
import { placementVerdict } from './daemonset-node-view.js';

/** Called for keys that have to be reconciled. */
interface DaemonSetCalls {
  fleet(daemonSet: DaemonSet): void;
  node(daemonSet: DaemonSet, nodeName: string): void;
  gone(daemonSet: DaemonSet): void;
}

type TriggerInformers = Pick<
  Informers,
  'pods' | 'nodes' | 'daemonSets' | 'controllerRevisions' | 'rolloutPolicies' | 'rollouts'
>;

/** Listens from now on. Objects that exist already count as new. */
export function watchDaemonSetTriggers(informers: TriggerInformers, calls: DaemonSetCalls): void {
  informers.daemonSets.onChange(({ previous, current }) => {
    if (current) calls.fleet(current);
    else if (previous) calls.gone(previous);
  });
  informers.controllerRevisions.onChange((change) => {
    for (const daemonSet of concerned(informers, change)) calls.fleet(daemonSet);
  });
  informers.rolloutPolicies.onChange(({ previous, current }) => {
    const { namespace = '' } = (current ?? previous)?.metadata ?? {};
    for (const daemonSet of informers.daemonSets.indexed(BY_NAMESPACE, namespace)) calls.fleet(daemonSet);
  });
  informers.rollouts.onChange(({ previous, current }) => {
    // The controller itself writes the status. Operators change the spec, or delete the object.
    const isNews = !current || !isDeepStrictEqual(previous?.spec, current.spec);
    const rollout = current ?? previous;
    const daemonSet = isNews && rollout && informers.daemonSets.get(rollout.metadata);
    if (daemonSet) calls.fleet(daemonSet);
  });
  informers.pods.onChange((change) => callForPod(informers, calls, change));
  informers.nodes.onChange((change) => callForNode(informers, calls, change));
}

/**
 * Returns the DaemonSets that owned the object before or after the change. For an orphan, even a deleted one, also
 * returns those that might adopt it.
 */
function concerned(
  informers: TriggerInformers,
  { previous, current }: ObjectChange<Pod> | ObjectChange<ControllerRevision>,
): Set<DaemonSet> {
  const found = new Set<DaemonSet>();
  for (const object of [previous, current]) {
    const owner = object && controllerOf(object.metadata);
    const daemonSet = owner && informers.daemonSets.byUid(owner.uid);
    if (daemonSet) found.add(daemonSet);
  }
  const last = current ?? previous;
  if (last && !controllerOf(last.metadata)) {
    for (const daemonSet of adopters(informers, last.metadata)) found.add(daemonSet);
  }
  return found;
}

function adopters(informers: TriggerInformers, { namespace = '', labels }: ObjectMeta): DaemonSet[] {
  return informers.daemonSets
    .indexed(BY_NAMESPACE, namespace)
    .filter((daemonSet) => compileLabelSelector(daemonSet.spec.selector).matches(labels));
}

function callForPod(informers: TriggerInformers, calls: DaemonSetCalls, change: ObjectChange<Pod>): void {
  const nodes = new Set([change.previous, change.current].map((pod) => pod && targetNodeOf(pod)));
  for (const daemonSet of concerned(informers, change)) {
    for (const name of nodes) if (name !== undefined) calls.node(daemonSet, name);
  }
}

/** Returns the fields that placement depends on. Heartbeats and status reports change none of them. */
function mattersToPlacement(node: KubeObject & Partial<Pick<Node, 'spec'>>) {
  return {
    labels: node.metadata.labels,
    taints: node.spec?.taints,
    heardIn: heardIn(node),
  };
}

function callForNode(informers: TriggerInformers, calls: DaemonSetCalls, change: ObjectChange<Node>): void {
  const { previous, current } = change;
  const name = (current ?? previous)?.metadata.name;
  if (name === undefined) return;
  const isUpdate = previous !== undefined && current !== undefined;
  if (isUpdate && isDeepStrictEqual(mattersToPlacement(previous), mattersToPlacement(current))) return;
  for (const daemonSet of informers.daemonSets.list()) {
    if (isUpdate && heardIn(previous) === heardIn(current) && isSamePlacement(daemonSet, previous, current))
      continue;
    calls.node(daemonSet, name);
  }
}

function heardIn({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[RESYNCED_IN_EPOCH];
}

function isSamePlacement(daemonSet: DaemonSet, previous: Node, current: Node): boolean {
  const [before, after] = [previous, current].map((node) => placementVerdict(node, daemonSet));
  return (
    before?.shouldRun === after?.shouldRun && before?.shouldContinueRunning === after?.shouldContinueRunning
  );
}
