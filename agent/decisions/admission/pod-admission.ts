/** Pods that this host may not run at all (pkg/kubelet/lifecycle, pkg/kubelet/sysctl, pkg/security/apparmor; the host's own policy). */
import { type HostPort, hostPorts, portsConflict } from '../../../shared/kube/pods/host-ports.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { forbiddenSysctl } from '../container-spec/allowed-sysctls.js';
import type { HostIsolation } from './host-isolation.js';
import { policyRefusal } from './host-policy.js';

/** In a kubelet's words. */
export interface Rejection {
  reason: string;
  message: string;
}

/** `takenPorts`: by the Pods that are here already. Why the Pod ends Failed before anything of it starts; undefined when it may run. */
export function podRejection(
  pod: Pod,
  isolation: HostIsolation,
  takenPorts: readonly HostPort[] = [],
): Rejection | undefined {
  const forbidden = policyRejection(pod, isolation);
  if (forbidden) return forbidden;
  if (hostPorts(pod.spec).some((port) => takenPorts.some((taken) => portsConflict(port, taken)))) {
    const why = "node(s) didn't have free ports for the requested pod ports";
    return { reason: 'NodePorts', message: `Predicate NodePorts failed: ${why}` };
  }
  for (const { name } of pod.spec.securityContext?.sysctls ?? []) {
    const why = forbiddenSysctl(name, isolation.allowedUnsafeSysctls, pod.spec);
    if (why) return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${why}` };
  }
  if (!isolation.appArmor && wantsAppArmor(pod)) {
    const message = 'Cannot enforce AppArmor: AppArmor is not enabled on the host';
    return { reason: 'AppArmor', message };
  }
  return undefined;
}

/** What the host's owner forbids, of a Pod that runs as well: a policy counts from the moment it is read. */
export function policyRejection(pod: Pod, { policy }: Pick<HostIsolation, 'policy'>): Rejection | undefined {
  const forbidden = policy && policyRefusal(pod, policy);
  if (!forbidden) return undefined;
  return { reason: 'HostPolicy', message: `forbidden by the policy of this host: ${forbidden}` };
}

/** True when a profile is asked for by name; none at all means the engine's own where it has one. */
function wantsAppArmor({ spec }: Pod): boolean {
  const containers: Container[] = [...(spec.initContainers ?? []), ...spec.containers];
  return [spec.securityContext, ...containers.map(({ securityContext }) => securityContext)].some(
    (context) => {
      const type = context?.appArmorProfile?.type;
      return type !== undefined && type !== 'Unconfined';
    },
  );
}
