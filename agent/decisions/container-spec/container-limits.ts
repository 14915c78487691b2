/** What a container may take of the host (pkg/kubelet/cm helpers_linux.go, pkg/kubelet/qos/policy.go). */

import { milliCpu, wholeUnits } from '../../../shared/kube/objects/quantity.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { qualityOfService } from '../../../shared/kube/pods/quality-of-service.js';
import type { ContainerConfig } from '../../runtime/runtime-driver.js';
import type { HostIsolation } from '../admission/host-isolation.js';

type EngineLimits = Pick<
  ContainerConfig,
  'cpuShares' | 'cpuLimitMilli' | 'memoryLimitBytes' | 'pidsLimit' | 'oomScoreAdj'
>;

/** The least and the most CPU shares that the kernel takes. */
const MIN_CPU_SHARES = 2;
const MAX_CPU_SHARES = 262_144;

const GUARANTEED_OOM_SCORE = -997;
const BEST_EFFORT_OOM_SCORE = 1000;
/** The sandbox goes after everything that it holds together. */
const SANDBOX_OOM_SCORE = -998;
const NODE_CRITICAL = 'system-node-critical';

/** Shares from the request, a quota from the limit; a container without a request is a small one, not an equal one. */
export function engineLimits(pod: Pod, container: Container, isolation: HostIsolation): EngineLimits {
  const { limits, requests } = container.resources ?? {};
  const asked = milliCpu(requests?.cpu ?? limits?.cpu);
  const cpuLimitMilli = milliCpu(limits?.cpu);
  const memoryLimitBytes = wholeUnits(limits?.memory);
  const { podPidsLimit, leastOomScore } = isolation;
  return {
    cpuShares: Math.min(Math.max(Math.floor((asked * 1024) / 1000), MIN_CPU_SHARES), MAX_CPU_SHARES),
    ...(cpuLimitMilli > 0 ? { cpuLimitMilli } : {}),
    ...(memoryLimitBytes > 0 ? { memoryLimitBytes } : {}),
    ...(podPidsLimit === undefined ? {} : { pidsLimit: podPidsLimit }),
    oomScoreAdj: Math.max(oomScore(pod, container, isolation.memoryBytes), leastOomScore),
  };
}

/** The sandbox takes next to nothing. */
export function sandboxLimits({ leastOomScore }: HostIsolation): EngineLimits {
  return { cpuShares: MIN_CPU_SHARES, oomScoreAdj: Math.max(SANDBOX_OOM_SCORE, leastOomScore) };
}

/** The more of the host's memory a burstable container asked for, the later it is ended (GetContainerOOMScoreAdjust). */
export function oomScore(pod: Pod, container: Container, memoryBytes: number): number {
  if (pod.spec.priorityClassName === NODE_CRITICAL) return GUARANTEED_OOM_SCORE;
  switch (qualityOfService(pod.spec)) {
    case 'Guaranteed':
      return GUARANTEED_OOM_SCORE;
    case 'BestEffort':
      return BEST_EFFORT_OOM_SCORE;
    case 'Burstable': {
      const { requests, limits } = container.resources ?? {};
      const asked = wholeUnits(requests?.memory ?? limits?.memory);
      const score = 1000 - Math.floor((1000 * asked) / memoryBytes);
      return Math.min(Math.max(score, 1000 + GUARANTEED_OOM_SCORE), BEST_EFFORT_OOM_SCORE - 1);
    }
  }
}
