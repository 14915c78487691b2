/** When faults have ended: exactly what the simple reference says must be there, and nothing else. */
import { findCondition } from '../../shared/kube/conditions.js';
import type { Node } from '../../shared/kube/node.js';
import type { Pod } from '../../shared/kube/pod.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { belongs, hasTemplateGeneration, mayStay } from './reference.js';
import type { Scene } from './scene.js';
import { isLeaving, isReady, versionOf } from './truth.js';

/** What is not yet, or never will be, as it must be; empty = at rest. */
export function unrest(scene: Scene, hosts: readonly string[]): string[] {
  const { truth } = scene;
  return [
    ...[...truth.nodes.values()].flatMap(nodeUnrest),
    ...[...truth.pods.values()].flatMap((pod) => podUnrest(pod, scene)),
    ...[...truth.daemonSets.values()].flatMap((daemonSet) => daemonSetUnrest(daemonSet, scene)),
    ...hosts.flatMap((host) => hostUnrest(host, scene)),
    ...[...scene.wishes.answered].flatMap((uid) => forgottenDeletion(uid, scene)),
  ];
}

function nodeUnrest({ metadata, spec, status }: Node): string[] {
  const isLive = ['Ready', 'Connected'].every(
    (type) => findCondition(status?.conditions, type)?.status === 'True',
  );
  const taint = spec?.taints?.find(({ key }) => key.startsWith('node.kubernetes.io/'));
  if (!isLive) return [`Node ${metadata.name} is not Ready and Connected`];
  return taint ? [`Node ${metadata.name} keeps the taint ${taint.key}`] : [];
}

function podUnrest(pod: Pod, { truth, running }: Scene): string[] {
  const { name, uid } = pod.metadata;
  const { nodeName = '' } = pod.spec;
  if (isLeaving(pod)) return [`Pod ${name} is still to be deleted`];
  if (!truth.nodes.has(nodeName)) return [`Pod ${name} is on ${nodeName}, which is no Node`];
  const own = running(nodeName).filter(({ podUid }) => podUid === uid);
  const images = own.map(({ image }) => image).join();
  const wanted = pod.spec.containers.map(({ image }) => `docker.io/library/${image}`).join();
  if (images !== wanted) return [`Pod ${name} runs [${images}] on ${nodeName}, wanted [${wanted}]`];
  return isReady(pod) ? [] : [`Pod ${name} runs on ${nodeName} and is not Ready`];
}

function daemonSetUnrest(daemonSet: DaemonSet, scene: Scene): string[] {
  const { name } = daemonSet.metadata;
  if (isLeaving(daemonSet)) return [`DaemonSet ${name} is still to be deleted`];
  const nodes = [...scene.truth.nodes.values()];
  const problems = nodes.flatMap((node) => placeUnrest(daemonSet, node, scene));
  return problems.length > 0 ? problems : statusUnrest(daemonSet, nodes, scene);
}

function placeUnrest(daemonSet: DaemonSet, node: Node, { truth }: Scene): string[] {
  const { name } = node.metadata;
  const pods = truth.podsOf(daemonSet, name);
  const where = `${daemonSet.metadata.name} on ${name}`;
  const mayBe = belongs(daemonSet, node) ? [1] : mayStay(daemonSet, node) ? [0, 1] : [0];
  if (!mayBe.includes(pods.length)) return [`${where}: ${pods.length} Pods, wanted ${mayBe.join(' or ')}`];
  const isRolling = daemonSet.spec.updateStrategy?.type === 'RollingUpdate';
  const outdated = pods.find((pod) => !isUpdated(pod, daemonSet));
  return isRolling && outdated ? [`${where}: ${outdated.metadata.name} is of an older template`] : [];
}

function isUpdated(pod: Pod, daemonSet: DaemonSet): boolean {
  return versionOf(pod) === versionOf(daemonSet.spec.template) || hasTemplateGeneration(pod, daemonSet);
}

function statusUnrest({ metadata, status }: DaemonSet, nodes: readonly Node[], { truth }: Scene): string[] {
  const daemonSet = truth.daemonSets.get(metadata.uid ?? '');
  if (!daemonSet) return [];
  const wanted = nodes.filter((node) => belongs(daemonSet, node));
  const pods = wanted.flatMap((node) => truth.podsOf(daemonSet, node.metadata.name));
  const figures = {
    observedGeneration: metadata.generation,
    desiredNumberScheduled: wanted.length,
    currentNumberScheduled: pods.length,
    numberReady: pods.length,
    numberAvailable: pods.length,
    updatedNumberScheduled: pods.filter((pod) => isUpdated(pod, daemonSet)).length,
  };
  return Object.entries(figures).flatMap(([figure, right]) => {
    const told = status?.[figure as keyof typeof figures] ?? 0;
    return told === right ? [] : [`DaemonSet ${metadata.name} says ${figure} ${told}, it is ${right}`];
  });
}

function hostUnrest(host: string, { truth, containers }: Scene): string[] {
  return containers(host)
    .filter(({ podUid }) => truth.pods.get(podUid)?.spec.nodeName !== host)
    .map(({ podName }) => `${host} has a container of ${podName}, which is no Pod of it`);
}

function forgottenDeletion(uid: string, { truth }: Scene): string[] {
  const kept = truth.pods.get(uid) ?? truth.daemonSets.get(uid);
  return kept ? [`${kept.metadata.name} was deleted, and is there`] : [];
}
