/** Isolation that a container requests and this host cannot provide, although the container can run. */
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { engineLimits, oomScore } from '../container-spec/container-limits.js';
import { missingCapabilities, wantsMissingSeccomp } from '../container-spec/container-security.js';
import type { HostIsolation } from './host-isolation.js';

/** Returns one sentence for each missing feature. The engine reports further ones when it creates the container. */
export function isolationShortfalls(pod: Pod, container: Container, isolation: HostIsolation): string[] {
  const wanted = oomScore(pod, container, isolation.memoryBytes);
  const { oomScoreAdj = wanted } = engineLimits(pod, container, isolation);
  const lacking = missingCapabilities(container, isolation);
  return [
    ...(oomScoreAdj > wanted
      ? [`OOM score adjustment is ${oomScoreAdj}, not ${wanted}: this host's engine lacks CAP_SYS_RESOURCE`]
      : []),
    ...(lacking.length > 0 ? [`capabilities are missing on this host: ${lacking.join(', ')}`] : []),
    ...(wantsMissingSeccomp(pod, container, isolation)
      ? ['system calls are not filtered: this host has no seccomp']
      : []),
  ];
}
