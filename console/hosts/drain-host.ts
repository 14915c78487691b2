/** Emptying a host as `kubectl drain --ignore-daemonsets` does: it is cordoned, and its Pods are evicted one by one. */
import { controllerOf } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { ApiCallError, requestApi } from '../api/api-call.js';
import { changeNode } from '../api/node-writes.js';

const MIRROR = 'kubernetes.io/config.mirror';
const OVER: ReadonlySet<string | undefined> = new Set(['Succeeded', 'Failed']);

/** What becomes of the Pods of a host that is drained. */
interface DrainPlan {
  /** To be evicted. */
  evict: Pod[];
  /** DaemonSets' Pods, which would come back at once, and static ones, which only the host can end: they stay. */
  stay: Pod[];
}

/** Pure. */
export function planDrain(pods: readonly Pod[]): DrainPlan {
  const stays = ({ metadata }: Pod) =>
    controllerOf(metadata)?.kind === 'DaemonSet' || metadata.annotations?.[MIRROR] !== undefined;
  const running = pods.filter(({ status }) => !OVER.has(status?.phase));
  return { evict: running.filter((pod) => !stays(pod)), stay: running.filter(stays) };
}

/** Cordons and asks for each eviction. Rejects when some were refused. */
export async function drain(node: string, { evict }: DrainPlan): Promise<void> {
  await changeNode(node, { unschedulable: true });
  const refused: string[] = [];
  for (const { metadata } of evict.filter((pod) => !pod.metadata.deletionTimestamp)) {
    const { namespace = '', name } = metadata;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
    await requestApi(`/api/v1/namespaces/${namespace}/pods/${name}/eviction`, { method: 'POST', body }).catch(
      (error: unknown) => {
        // Gone meanwhile: as it was meant to be.
        if (!(error instanceof ApiCallError && error.code === 404)) refused.push(`${name}: ${error}`);
      },
    );
  }
  if (refused.length > 0) throw new Error(`${refused.length} Pods were not evicted. ${refused[0]}`);
}
