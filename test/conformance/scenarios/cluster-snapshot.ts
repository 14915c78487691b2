/** All objects of namespace `default` that expectations check, read at one time. */

import type { ControllerRevision, DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import type { KubeEvent } from '../../../shared/kube/objects/event-types.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { SET_LABEL } from './conformance-scenario.js';

const NAMESPACE = '/namespaces/default';

export interface Snapshot {
  /** The oldest revision among the lists: a watch from here misses no later event. */
  resourceVersion: string;
  pods: Pod[];
  daemonSets: DaemonSet[];
  revisions: ControllerRevision[];
  nodes: Node[];
  events: KubeEvent[];
}

export async function takeSnapshot(api: CoordinatorApi): Promise<Snapshot> {
  const { items: pods, resourceVersion } = await api.items<Pod>(`/api/v1${NAMESPACE}/pods`);
  const [daemonSets, revisions, nodes, events] = await Promise.all([
    api.items<DaemonSet>(`/apis/apps/v1${NAMESPACE}/daemonsets`),
    api.items<ControllerRevision>(`/apis/apps/v1${NAMESPACE}/controllerrevisions`),
    api.items<Node>('/api/v1/nodes'),
    api.items<KubeEvent>(`/api/v1${NAMESPACE}/events`),
  ]);
  return {
    resourceVersion,
    pods,
    daemonSets: daemonSets.items,
    revisions: revisions.items,
    nodes: nodes.items,
    events: events.items,
  };
}

export function isLive(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined;
}

/** The set's Pods, terminating ones too, by label. */
export function podsOfSet(pods: readonly Pod[], set: string): Pod[] {
  return pods.filter((pod) => pod.metadata.labels?.[SET_LABEL] === set);
}

/** The set's revisions, by label. */
export function revisionsOfSet(revisions: readonly ControllerRevision[], set: string): ControllerRevision[] {
  return revisions
    .filter((revision) => revision.metadata.labels?.[SET_LABEL] === set)
    .sort((a, b) => a.revision - b.revision);
}

/** Name of the controlling owner, null without one. */
export function ownerName(pod: Pod): string | null {
  return controllerOf(pod.metadata)?.name ?? null;
}

export function imageOf(pod: Pod): string | undefined {
  return pod.spec.containers[0]?.image;
}
