/**
 * Decides which keys a change enqueues. A change of one object never visits the whole fleet, except a change of a Node.
 */
import { isDeepStrictEqual } from 'node:util';
import type { DaemonSetOverride } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { HostValues, HostValuesSpec } from '../../../shared/kube/host-values/host-values-types.js';
import { type Node, RESYNCED_IN_EPOCH } from '../../../shared/kube/nodes/node-types.js';
import { controllerOf, type KubeObject, type ObjectMeta } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import { type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { changedScope } from '../../decisions/host-values/changed-scope.js';
import { BY_NAMESPACE, type ObjectChange } from '../../informers/informer.js';
import { type NodeTemplate, nodeTemplate, usedKeys } from '../host-values/node-template.js';
import type { DaemonSetInformers } from './daemonset-deps.js';
import { placementVerdict } from './daemonset-node-view.js';

/** Called for keys that have to be reconciled. */
interface DaemonSetCalls {
  fleet(daemonSet: DaemonSet): void;
  node(daemonSet: DaemonSet, nodeName: string): void;
  gone(daemonSet: DaemonSet): void;
}

/** Listens from now on. Objects that exist already count as new. */
export function watchDaemonSetTriggers(informers: DaemonSetInformers, calls: DaemonSetCalls): void {
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
  informers.hostValues.onChange((change) => callForValues(informers, calls, change));
  informers.daemonSetOverrides.onChange((change) => callForOverride(informers, calls, change));
}

/** Only the hosts of the object, and only DaemonSets that use one of its changed keys. */
function callForValues(
  informers: DaemonSetInformers,
  calls: DaemonSetCalls,
  { previous, current }: ObjectChange<HostValues>,
): void {
  const { namespace = '' } = (current ?? previous)?.metadata ?? {};
  const { daemonSets, nodes } = informers;
  let selected: readonly string[] | undefined;
  for (const daemonSet of daemonSets.indexed(BY_NAMESPACE, namespace)) {
    const changed = changedScope(previous?.spec, current?.spec, usedKeys(informers, daemonSet));
    if (!changed) continue;
    if (!changed.named) selected ??= selectedHosts(nodes.list(), [previous?.spec, current?.spec]);
    for (const name of changed.named ?? selected ?? []) calls.node(daemonSet, name);
    calls.fleet(daemonSet);
  }
}

/** Only the hosts that the override selects or selected. */
function callForOverride(
  { daemonSets, nodes }: DaemonSetInformers,
  calls: DaemonSetCalls,
  { previous, current }: ObjectChange<DaemonSetOverride>,
): void {
  if (isDeepStrictEqual(previous?.spec, current?.spec)) return;
  const { namespace = '' } = (current ?? previous)?.metadata ?? {};
  for (const name of new Set([previous, current].flatMap((each) => each?.spec.daemonSetName ?? []))) {
    const daemonSet = daemonSets.get({ namespace, name });
    if (!daemonSet) continue;
    for (const host of selectedHosts(nodes.list(), [previous?.spec, current?.spec])) {
      calls.node(daemonSet, host);
    }
    calls.fleet(daemonSet);
  }
}

/** Returns the names of the hosts that one of the objects names or selects. */
function selectedHosts(
  nodes: Iterable<Node>,
  specs: readonly (Pick<HostValuesSpec, 'hosts' | 'nodeSelector'> | undefined)[],
): string[] {
  const names = new Set<string>();
  const present = specs.flatMap((spec) => spec ?? []);
  for (const { hosts = {} } of present) for (const name of Object.keys(hosts)) names.add(name);
  const matchers = present.map(({ nodeSelector = {} }) => compileLabelSelector(nodeSelector));
  for (const { metadata } of nodes) {
    if (matchers.some((matcher) => matcher.matches(metadata.labels))) names.add(metadata.name);
  }
  return [...names];
}

/**
 * Returns the DaemonSets that owned the object before or after the change. For an orphan, even a deleted one, also
 * returns those that might adopt it.
 */
function concerned(
  informers: DaemonSetInformers,
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

function adopters(informers: DaemonSetInformers, { namespace = '', labels }: ObjectMeta): DaemonSet[] {
  return informers.daemonSets
    .indexed(BY_NAMESPACE, namespace)
    .filter((daemonSet) => compileLabelSelector(daemonSet.spec.selector).matches(labels));
}

function callForPod(informers: DaemonSetInformers, calls: DaemonSetCalls, change: ObjectChange<Pod>): void {
  const nodes = new Set([change.previous, change.current].map((pod) => pod && targetNodeOf(pod)));
  for (const daemonSet of concerned(informers, change)) {
    for (const name of nodes) if (name !== undefined) calls.node(daemonSet, name);
  }
}

/** Returns the fields that placement and values depend on. Heartbeats and status reports change none of them. */
function mattersToPlacement(node: KubeObject & Partial<Pick<Node, 'spec'>>) {
  return {
    labels: node.metadata.labels,
    // Templates may use any annotation. `heardIn` is one of them.
    annotations: node.metadata.annotations,
    taints: node.spec?.taints,
  };
}

function isSameTemplate(
  informers: DaemonSetInformers,
  daemonSet: DaemonSet,
  previous: Node,
  current: Node,
): boolean {
  const [before, after] = [previous, current].map((node) =>
    identityOf(nodeTemplate(informers, daemonSet, node)),
  );
  return before === after;
}

function identityOf(made: NodeTemplate): string {
  if (made.kind === 'refused') return `refused: ${made.message}`;
  return `${made.overrides} ${made.values?.resolved.text ?? ''}`;
}

function callForNode(informers: DaemonSetInformers, calls: DaemonSetCalls, change: ObjectChange<Node>): void {
  const { previous, current } = change;
  const name = (current ?? previous)?.metadata.name;
  if (name === undefined) return;
  const isUpdate = previous !== undefined && current !== undefined;
  if (isUpdate && isDeepStrictEqual(mattersToPlacement(previous), mattersToPlacement(current))) return;
  for (const daemonSet of informers.daemonSets.list()) {
    const isSame =
      isUpdate &&
      heardIn(previous) === heardIn(current) &&
      isSamePlacement(daemonSet, previous, current) &&
      isSameTemplate(informers, daemonSet, previous, current);
    if (!isSame) calls.node(daemonSet, name);
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
