/** Resource limits of a container (pkg/kubelet/cm helpers_linux.go, pkg/kubelet/qos/policy.go). */

import { milliCpu, wholeUnits } from '../../../shared/kube/objects/quantity.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { qualityOfService } from '../../../shared/kube/pods/quality-of-service.js';
import type { ContainerConfig } from '../../runtime/runtime-driver.js';
import type { HostIsolation } from '../admission/host-isolation.js';

type EngineLimits = Pick<
  ContainerConfig,
  'cpuShares' | 'cpuLimitMilli' | 'memoryLimitBytes' | 'pidsLimit' | 'oomScoreAdj'
>;

/** Range of CPU shares that the kernel accepts. */
const MIN_CPU_SHARES = 2;
const MAX_CPU_SHARES = 262_144;

const GUARANTEED_OOM_SCORE = -997;
const BEST_EFFORT_OOM_SCORE = 1000;
/** The kernel kills the sandbox after the containers that depend on it. */
const SANDBOX_OOM_SCORE = -998;
const NODE_CRITICAL = 'system-node-critical';

/** Shares follow the CPU request, the quota follows the limit. A container without a request gets the fewest shares. */
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

export function sandboxLimits({ leastOomScore }: HostIsolation): EngineLimits {
  return { cpuShares: MIN_CPU_SHARES, oomScoreAdj: Math.max(SANDBOX_OOM_SCORE, leastOomScore) };
}

/**
 * Returns a lower score for burstable containers with a larger share of the host's memory (GetContainerOOMScoreAdjust).
 */
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
