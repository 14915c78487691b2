/** When faults have ended: exactly what the simple reference says must be there, and nothing else. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { handoverAnnotationOf } from '../../../shared/kube/handovers/host-handover.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { isPodTerminal, type Pod, targetNodeOf } from '../../../shared/kube/pods/pod-types.js';
import { jobUnrest } from './job-rules.js';
import type { ObservedWorld } from './observed-world.js';
import {
  belongs,
  hasTemplateGeneration,
  mayReplaceAvailable,
  mayStay,
  toleratesFor,
} from './reference-placement.js';
import { hasNoValues, valuesOfPod, valuesOn } from './reference-values.js';
import { isLeaving, isReady, type StoredState, versionOf } from './stored-truth.js';

export const SETTLED_RULE = 'no rest when faults have ended';

const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

/** Returns the differences from the expected final state. Empty: settled. */
export function unsettledProblems(scene: ObservedWorld, hosts: readonly string[]): string[] {
  const { stored: truth } = scene;
  return [
    ...[...truth.nodes.values()].flatMap(nodeUnrest),
    ...[...truth.pods.values()].flatMap((pod) => podUnrest(pod, scene)),
    ...[...truth.daemonSets.values()].flatMap((daemonSet) => daemonSetUnrest(daemonSet, scene)),
    ...jobUnrest(scene),
    ...hosts.flatMap((host) => hostUnrest(host, scene)),
    ...hosts.flatMap((host) => staticUnrest(host, scene)),
    ...[...scene.userRequests.answered].flatMap((uid) => forgottenDeletion(uid, scene)),
  ];
}

function nodeUnrest({ metadata, spec, status }: Node): string[] {
  const isLive = ['Ready', 'Connected'].every(
    (type) => findCondition(status?.conditions, type)?.status === 'True',
  );
  const pressure = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].find(
    (type) => findCondition(status?.conditions, type)?.status === 'True',
  );
  const isCordoned = spec?.taints?.some(({ key }) => key === UNSCHEDULABLE) ?? false;
  const taint = spec?.taints?.find(
    ({ key }) => key.startsWith('node.kubernetes.io/') && key !== UNSCHEDULABLE,
  );
  if (!isLive) return [`Node ${metadata.name} is not Ready and Connected`];
  if (pressure) return [`Node ${metadata.name} keeps ${pressure}`];
  if (isCordoned !== (spec?.unschedulable ?? false))
    return [`Node ${metadata.name} is ${isCordoned ? '' : 'not '}tainted as unschedulable`];
  return taint ? [`Node ${metadata.name} keeps the taint ${taint.key}`] : [];
}

function podUnrest(pod: Pod, { stored: truth, running }: ObservedWorld): string[] {
  const { name } = pod.metadata;
  const { nodeName = '' } = pod.spec;
  if (!nodeName && waitsForTaint(pod, truth)) return [];
  const node = truth.nodes.get(nodeName);
  if (isLeaving(pod)) return [`Pod ${name} is still to be deleted`];
  if (handoverAnnotationOf(pod) !== undefined) return [`Pod ${name} still has a turn to come`];
  if (!node) return [`Pod ${name} is on ${nodeName}, which is no Node`];
  const intolerable = node.spec?.taints?.find(
    (taint) => taint.effect === 'NoExecute' && Number.isFinite(toleratesFor(pod, taint)),
  );
  if (intolerable) return [`Pod ${name} stays on ${nodeName} with the taint ${intolerable.key}`];
  if (isPodTerminal(pod) && pod.spec.restartPolicy === 'Never') {
    const left = running(nodeName).some(({ podUid }) => podUid === pod.metadata.uid);
    return left ? [`Pod ${name} is ${pod.status?.phase} and runs on ${nodeName}`] : [];
  }
  const owner = truth.ownerOf(pod);
  // It is not replaced, also if its image is bad.
  if (owner && hasNoValues(owner, node, truth)) return [];
  const own = running(nodeName).filter(({ podUid }) => podUid === hostUid(pod));
  const images = own.map(({ image }) => image).join();
  const wanted = pod.spec.containers.map(({ image }) => `docker.io/library/${image}`).join();
  if (images !== wanted) return [`Pod ${name} runs [${images}] on ${nodeName}, wanted [${wanted}]`];
  return isReady(pod) ? [] : [`Pod ${name} runs on ${nodeName} and is not Ready`];
}

/** True for an unbound Pod that may stay on its node, but may not start there any longer. */
function waitsForTaint(pod: Pod, truth: StoredState): boolean {
  const daemonSet = truth.ownerOf(pod);
  const node = truth.nodes.get(targetNodeOf(pod) ?? '');
  return (
    daemonSet !== undefined && node !== undefined && !belongs(daemonSet, node) && mayStay(daemonSet, node)
  );
}

function daemonSetUnrest(daemonSet: DaemonSet, scene: ObservedWorld): string[] {
  const { name } = daemonSet.metadata;
  if (isLeaving(daemonSet)) return [`DaemonSet ${name} is still to be deleted`];
  const nodes = [...scene.stored.nodes.values()];
  const problems = nodes.flatMap((node) => placeUnrest(daemonSet, node, scene));
  return problems.length > 0 ? problems : statusUnrest(daemonSet, nodes, scene);
}

function placeUnrest(daemonSet: DaemonSet, node: Node, { stored: truth }: ObservedWorld): string[] {
  const { name } = node.metadata;
  const pods = truth.podsOf(daemonSet, name);
  const where = `${daemonSet.metadata.name} on ${name}`;
  const isRefused = hasNoValues(daemonSet, node, truth);
  const mayStart = belongs(daemonSet, node) && !isRefused;
  const mayBe = mayStart ? [1] : mayStay(daemonSet, node) ? [0, 1] : [0];
  if (!mayBe.includes(pods.length)) return [`${where}: ${pods.length} Pods, wanted ${mayBe.join(' or ')}`];
  const desired = [...truth.nodes.values()].filter((each) => belongs(daemonSet, each)).length;
  const isRolling =
    daemonSet.spec.updateStrategy?.type === 'RollingUpdate' && mayReplaceAvailable(daemonSet, desired);
  const outdated = pods.find((pod) => !isUpdated(pod, daemonSet));
  if (!isRolling || isRefused) return [];
  if (outdated) return [`${where}: ${outdated.metadata.name} is of an older template`];
  const values = valuesOn(daemonSet, node, truth);
  const wrong = pods.find((pod) => !hasValues(pod, daemonSet, values));
  return wrong ? [`${where}: ${wrong.metadata.name} has not ${JSON.stringify(values)}`] : [];
}

/**
 * A template without values cannot judge a Pod of another template that counts as updated by its generation
 * (`hasTemplateGeneration`): that Pod may keep its own values.
 */
function hasValues(pod: Pod, daemonSet: DaemonSet, values: Record<string, string>): boolean {
  const own = valuesOfPod(pod);
  const isOfOther = versionOf(pod) !== versionOf(daemonSet.spec.template);
  if (isOfOther && Object.keys(values).length === 0) return true;
  const isEqual = Object.entries(values).every(([path, value]) => own[path] === value);
  return isEqual && Object.keys(own).length === Object.keys(values).length;
}

function isUpdated(pod: Pod, daemonSet: DaemonSet): boolean {
  return versionOf(pod) === versionOf(daemonSet.spec.template) || hasTemplateGeneration(pod, daemonSet);
}

/** Of this template, and with the values of its host. */
function isCurrent(pod: Pod, daemonSet: DaemonSet, truth: StoredState): boolean {
  const node = truth.nodes.get(targetNodeOf(pod) ?? '');
  if (node === undefined || !isUpdated(pod, daemonSet)) return false;
  return hasValues(pod, daemonSet, valuesOn(daemonSet, node, truth));
}

function statusUnrest(
  { metadata, status }: DaemonSet,
  nodes: readonly Node[],
  scene: ObservedWorld,
): string[] {
  const { stored: truth } = scene;
  const daemonSet = truth.daemonSets.get(metadata.uid ?? '');
  if (!daemonSet) return [];
  const wanted = nodes.filter((node) => belongs(daemonSet, node));
  const pods = wanted.flatMap((node) => truth.podsOf(daemonSet, node.metadata.name));
  const figures = {
    observedGeneration: metadata.generation,
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: pods.length,
    ...(!wanted.some((node) => hasNoValues(daemonSet, node, truth)) && {
      numberReady: pods.length,
      numberAvailable: pods.length,
      updatedNumberScheduled: pods.filter((pod) => isCurrent(pod, daemonSet, truth)).length,
    }),
  };
  const problems = Object.entries(figures).flatMap(([figure, right]) => {
    const told = status?.[figure as keyof typeof figures] ?? 0;
    return told === right ? [] : [`DaemonSet ${metadata.name} says ${figure} ${told}, it is ${right}`];
  });
  return problems.length > 0 ? problems : rolloutUnrest(daemonSet, wanted.length, scene);
}

/** A static Pod's containers are its host's own, and bear the uid that its mirror names. */
function hostUid({ metadata }: Pod): string | undefined {
  return metadata.annotations?.['kubernetes.io/config.mirror'] ?? metadata.uid;
}

/** A host with a deleted Node stays disconnected until its agent restarts. Its static Pods keep running. */
function hostUnrest(host: string, { stored: truth, containers, staticPods }: ObservedWorld): string[] {
  const pods = [...truth.pods.values()].filter(({ spec }) => spec.nodeName === host);
  const own = new Set(pods.map(hostUid));
  const unseen = truth.nodes.has(host) ? [] : staticPods(host).map(({ name }) => name);
  return containers(host)
    .filter(({ podUid, podName }) => !own.has(podUid) && !unseen.includes(podName))
    .map(({ podName }) => `${host} has a container of ${podName}, which is no Pod of it`);
}

/** Every manifest has its Pod and its mirror, and every mirror its manifest; that they run, `podUnrest` looks at. */
function staticUnrest(host: string, { stored: truth, staticPods }: ObservedWorld): string[] {
  if (!truth.nodes.has(host)) return [];
  const wanted = staticPods(host).map(({ name, image }) => `${name} of ${image}`);
  const mirrors = [...truth.pods.values()].filter(
    (pod) => pod.spec.nodeName === host && hostUid(pod) !== pod.metadata.uid,
  );
  const shown = mirrors.map(({ metadata, spec }) => `${metadata.name} of ${spec.containers[0]?.image}`);
  const [is, should] = [shown, wanted].map((names) => names.toSorted().join(', '));
  return is === should ? [] : [`static Pods of ${host} are shown as [${is}], wanted [${should}]`];
}

/**
 * A rollout by waves ends when nothing holds it up; without a policy there is none to be shown. Nodes that keep a Pod though none belongs
 * there may be counted; and what failed in one of them and is well since stays a failure.
 */
function rolloutUnrest(daemonSet: DaemonSet, wanted: number, { stored: truth }: ObservedWorld): string[] {
  const { metadata, spec } = daemonSet;
  const { name } = metadata;
  const status = truth.rollouts.get(name)?.status;
  const isGoverned = truth.policy !== undefined && spec.updateStrategy?.type === 'RollingUpdate';
  if (!isGoverned) return status ? [`${name} has a Rollout and no policy`] : [];
  // A wave waits for a host that has no label, which no user repairs here.
  if (
    [...truth.nodes.values()].some((node) => belongs(daemonSet, node) && hasNoValues(daemonSet, node, truth))
  )
    return [];
  const { phase = 'none', nodes = 0, updated = 0, failed = 0 } = status ?? {};
  const kept = [...truth.nodes.values()].filter(
    (node) => !belongs(daemonSet, node) && truth.podsOf(daemonSet, node.metadata.name).length > 0,
  );
  const isRight = nodes >= wanted && nodes <= wanted + kept.length && updated + failed === nodes;
  if (phase === 'Completed' && isRight) return [];
  return [
    `Rollout ${name} says ${phase}: ${updated} of ${nodes} updated, ${failed} failed; wanted ${wanted}`,
  ];
}

function forgottenDeletion(uid: string, { stored: truth }: ObservedWorld): string[] {
  const kept = truth.pods.get(uid) ?? truth.daemonSets.get(uid);
  return kept ? [`${kept.metadata.name} was deleted, and is there`] : [];
}
