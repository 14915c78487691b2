/** Drains a host like `kubectl drain --ignore-daemonsets`: cordons it and evicts its Pods one by one. */
import { controllerOf } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { ApiCallError, callApi, requestApi } from '../api/api-call.js';
import { changeNode } from '../api/node-writes.js';

const MIRROR = 'kubernetes.io/config.mirror';
const OVER: ReadonlySet<string | undefined> = new Set(['Succeeded', 'Failed']);

/** The Pods of a host that is drained. */
export interface DrainPlan {
  evict: Pod[];
  /** Pods that are not evicted: those of DaemonSets would be recreated, static ones only end on the host. */
  stay: Pod[];
}

export function planDrain(pods: readonly Pod[]): DrainPlan {
  const stays = ({ metadata }: Pod) =>
    controllerOf(metadata)?.kind === 'DaemonSet' || metadata.annotations?.[MIRROR] !== undefined;
  const running = pods.filter(({ status }) => !OVER.has(status?.phase));
  return { evict: running.filter((pod) => !stays(pod)), stay: running.filter(stays) };
}

/**
 * Cordons the Node and evicts its Pods. They are listed after the cordon: a list from before can lack Pods, and those
 * would keep running. Rejects if some evictions were rejected.
 */
export async function drain(node: string): Promise<void> {
  await changeNode(node, { unschedulable: true });
  const path = `/api/v1/pods?fieldSelector=spec.nodeName%3D${encodeURIComponent(node)}`;
  const { evict } = planDrain((await callApi<{ items: Pod[] }>(path)).items);
  const refused: string[] = [];
  for (const { metadata } of evict.filter((pod) => !pod.metadata.deletionTimestamp)) {
    const { namespace = '', name } = metadata;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
    await requestApi(`/api/v1/namespaces/${namespace}/pods/${name}/eviction`, { method: 'POST', body }).catch(
      (error: unknown) => {
        // A Pod that is already deleted needs no eviction.
        if (!(error instanceof ApiCallError && error.code === 404)) refused.push(`${name}: ${error}`);
      },
    );
  }
  if (refused.length > 0) throw new Error(`${refused.length} Pods were not evicted. ${refused[0]}`);
}
