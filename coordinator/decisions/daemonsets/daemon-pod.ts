/** Makes a node's Pod from a DaemonSet's template (pkg/controller/daemon/util). */

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

/**
 * Replaces, in place, every toleration that differs only in tolerationSeconds. Appends the toleration if there is none.
 */
function withToleration(tolerations: readonly Toleration[], added: Toleration): readonly Toleration[] {
  const same = tolerations.filter((toleration) => isSameToleration(toleration, added));
  if (same.length === 0) return [...tolerations, added];
  // Like upstream: do not change the list if one entry equals the toleration to add.
  if (same.some((toleration) => toleration.tolerationSeconds == null)) return tolerations;
  return tolerations.map((toleration) => (same.includes(toleration) ? added : toleration));
}

/** Returns the template's tolerations and the automatic ones (AddOrUpdateDaemonPodTolerations). */
export function daemonTolerations(spec: Pick<PodSpec, 'tolerations' | 'hostNetwork'>): Toleration[] {
  const automatic = spec.hostNetwork ? [...AUTOMATIC, HOST_NETWORK] : AUTOMATIC;
  return [...automatic.reduce(withToleration, spec.tolerations ?? [])];
}

/** Returns the same Pod for another node, bound to it if `pod` is bound. */
export function daemonPodOn(pod: Pod, nodeName: string): Pod {
  const { nodeName: bound, affinity } = pod.spec;
  const spec = { ...pod.spec, affinity: pinnedTo(nodeName, affinity), ...(bound && { nodeName }) };
  return { ...pod, spec };
}

/** Replaces the required node affinity and keeps all else (ReplaceDaemonSetPodNodeNameNodeAffinity). */
function pinnedTo(nodeName: string, affinity: Affinity | undefined): Affinity {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  return {
    ...affinity,
    nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required },
  };
}

/** Returns the owner reference of a DaemonSet's Pods and ControllerRevisions. */
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

/**
 * Returns how often the API server has counted a change of the template. Undefined if the annotation is missing or
 * unreadable.
 */
export function templateGenerationOf(daemonSet: DaemonSet): number | undefined {
  const text = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  return text !== undefined && /^[+-]?[0-9]+$/.test(text) ? Number(text) : undefined;
}

const LONGEST_NAME = 253;

/** Returns `<name>-`, unless a generated name would then be too long. */
function podNamePrefix(name: string): string {
  return name.length < LONGEST_NAME ? `${name}-` : name;
}

/** A Pod to create: the API server completes its name from `generateName`. */
type NewPod = Pod & { metadata: { generateName: string } };

/**
 * Returns an unbound Pod that is pinned to the node by its affinity. It shares objects with the template. `hash` is
 * that of the ControllerRevision from which it is made.
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
