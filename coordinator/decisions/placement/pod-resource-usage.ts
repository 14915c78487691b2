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
interface UsageSource {
  spec: PodSpec;
  next?: PodSpec | undefined;
}

/** Returns the total usage, with the larger one of each Pod and its handover successor. */
export function usageOfPods(pods: Iterable<UsageSource>): ResourceUsage {
  let requests: Amounts = {};
  const ports: HostPort[] = [];
  let count = 0;
  for (const { spec, next } of pods) {
    const own = podRequests(spec);
    requests = sumAmounts(requests, next ? maxAmounts(own, podRequests(next)) : own);
    ports.push(...hostPorts(spec), ...(next ? hostPorts(next) : []));
    count += 1;
  }
  return { requests, ports, pods: count };
}
