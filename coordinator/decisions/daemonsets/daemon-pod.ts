/** From a DaemonSet's template and a node to the Pod (pkg/controller/daemon/util). */

import {
  type DaemonSet,
  REVISION_HASH_LABEL,
  TEMPLATE_GENERATION_ANNOTATION,
  TEMPLATE_GENERATION_LABEL,
} from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { OwnerReference } from '../../../shared/kube/objects/meta.js';
import type { Affinity, Toleration } from '../../../shared/kube/pods/pod-placement-types.js';
import type { Pod, PodSpec } from '../../../shared/kube/pods/pod-types.js';

const AUTOMATIC: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

const HOST_NETWORK: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

function isSameToleration(a: Toleration, b: Toleration): boolean {
  return (
    (a.key ?? '') === (b.key ?? '') &&
    (a.operator ?? '') === (b.operator ?? '') &&
    (a.value ?? '') === (b.value ?? '') &&
    (a.effect ?? '') === (b.effect ?? '')
  );
}

/** Replaces every toleration that differs in tolerationSeconds alone, in its place; else appends. */
function withToleration(tolerations: readonly Toleration[], added: Toleration): readonly Toleration[] {
  const same = tolerations.filter((toleration) => isSameToleration(toleration, added));
  if (same.length === 0) return [...tolerations, added];
  // Upstream leaves the whole list alone as soon as one entry is already the one to add.
  if (same.some((toleration) => toleration.tolerationSeconds == null)) return tolerations;
  return tolerations.map((toleration) => (same.includes(toleration) ? added : toleration));
}

/** The template's tolerations and the automatic ones (AddOrUpdateDaemonPodTolerations). */
export function daemonTolerations(spec: Pick<PodSpec, 'tolerations' | 'hostNetwork'>): Toleration[] {
  const automatic = spec.hostNetwork ? [...AUTOMATIC, HOST_NETWORK] : AUTOMATIC;
  return [...automatic.reduce(withToleration, spec.tolerations ?? [])];
}

/** The same Pod for another node, bound to it if `pod` is bound. */
export function daemonPodOn(pod: Pod, nodeName: string): Pod {
  const { nodeName: bound, affinity } = pod.spec;
  const spec = { ...pod.spec, affinity: pinnedTo(nodeName, affinity), ...(bound && { nodeName }) };
  return { ...pod, spec };
}

/** Pins to one node: replaces the required node affinity, leaves all else (ReplaceDaemonSetPodNodeNameNodeAffinity). */
function pinnedTo(nodeName: string, affinity: Affinity | undefined): Affinity {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return {
    ...affinity,
    nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required },
  };
}

/** The reference by which a DaemonSet manages its Pods and ControllerRevisions. */
export function daemonSetOwner(daemonSet: DaemonSet): OwnerReference {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: daemonSet.metadata.name,
    uid: daemonSet.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** How often the template has changed, as the server counts it; undefined when the annotation is missing or unreadable. */
export function templateGenerationOf(daemonSet: DaemonSet): number | undefined {
  const text = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  return text !== undefined && /^[+-]?[0-9]+$/.test(text) ? Number(text) : undefined;
}

const LONGEST_NAME = 253;

/** `<name>-` unless that could not begin a valid name. */
function podNamePrefix(name: string): string {
  return name.length < LONGEST_NAME ? `${name}-` : name;
}

/** A Pod to be created: the server completes its name from `generateName`. */
type NewPod = Pod & { metadata: { generateName: string } };

/**
 * The Pod of `daemonSet` for one node, not bound yet: its target stands in the affinity. It shares the template's parts.
 * `hash` names the ControllerRevision it is made from.
 */
export function daemonPod(daemonSet: DaemonSet, nodeName: string, hash: string): NewPod {
  const { metadata = {}, spec } = daemonSet.spec.template;
  const generation = templateGenerationOf(daemonSet);
  const labels = {
    ...metadata.labels,
    ...(generation === undefined ? {} : { [TEMPLATE_GENERATION_LABEL]: String(generation) }),
    ...(hash ? { [REVISION_HASH_LABEL]: hash } : {}),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: '',
      generateName: podNamePrefix(daemonSet.metadata.name),
      ...(daemonSet.metadata.namespace ? { namespace: daemonSet.metadata.namespace } : {}),
      labels,
      ...(metadata.annotations ? { annotations: { ...metadata.annotations } } : {}),
      ...(metadata.finalizers ? { finalizers: [...metadata.finalizers] } : {}),
      ownerReferences: [daemonSetOwner(daemonSet)],
    },
    spec: {
      ...spec,
      affinity: pinnedTo(nodeName, spec.affinity),
      tolerations: daemonTolerations(spec),
    },
  };
}
