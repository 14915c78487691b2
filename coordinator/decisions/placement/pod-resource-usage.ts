/** Computes the resource usage of Pods: requests, host ports and Pod count. */

import { type HostPort, hostPorts } from '../../../shared/kube/pods/host-ports.js';
import {
  type Amounts,
  amounts,
  maxAmounts,
  podRequests,
  sumAmounts,
} from '../../../shared/kube/pods/pod-requests.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';

export { amounts, podRequests };

export interface ResourceUsage {
  requests: Amounts;
  ports: readonly HostPort[];
  pods: number;
}

/** A Pod, and its handover successor on the same host. */
export interface UsageSource {
  spec: PodSpec;
  next?: PodSpec | undefined;
}

const UNUSED: ResourceUsage = { requests: {}, ports: [], pods: 0 };

/** Returns the total usage, with the larger one of each Pod and its handover successor. */
export function usageOfPods(pods: Iterable<UsageSource>): ResourceUsage {
  let total = UNUSED;
  for (const pod of pods) total = plusPod(total, pod);
  return total;
}

/** Returns the usage with one more Pod. */
export function plusPod(
  { requests, ports, pods }: ResourceUsage,
  { spec, next }: UsageSource,
): ResourceUsage {
  const own = podRequests(spec);
  const added = [...hostPorts(spec), ...(next ? hostPorts(next) : [])];
  return {
    requests: sumAmounts(requests, next ? maxAmounts(own, podRequests(next)) : own),
    ports: added.length > 0 ? [...ports, ...added] : ports,
    pods: pods + 1,
  };
}
