/**
 * Rejects Pods that this host may not run (pkg/kubelet/lifecycle, pkg/kubelet/sysctl, pkg/security/apparmor; the host's
 * own policy).
 */
import { type HostPort, hostPorts, portsConflict } from '../../../shared/kube/pods/host-ports.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import { forbiddenSysctl } from '../container-spec/allowed-sysctls.js';
import type { HostIsolation } from './host-isolation.js';
import { policyRefusal } from './host-policy.js';

/** Reason and message as in a kubelet. */
export interface Rejection {
  reason: string;
  message: string;
}

/**
 * Returns why the Pod fails before it starts; undefined if it may run. `takenPorts`: host ports of the Pods already
 * here.
 */
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

/** Returns the violation of the host's policy by one ephemeral container. The Pod's other containers are not checked. */
export function ephemeralRejection(
  pod: Pod,
  container: Container,
  { policy }: Pick<HostIsolation, 'policy'>,
): Rejection | undefined {
  const spec = { ...pod.spec, initContainers: [], containers: [container], ephemeralContainers: [] };
  return policyRejection({ ...pod, spec }, { ...(policy && { policy }) });
}

/** Returns the violation of the host's policy. It applies to running Pods as well, as soon as the policy was read. */
export function policyRejection(pod: Pod, { policy }: Pick<HostIsolation, 'policy'>): Rejection | undefined {
  const forbidden = policy && policyRefusal(pod, policy);
  if (!forbidden) return undefined;
  return { reason: 'HostPolicy', message: `forbidden by the policy of this host: ${forbidden}` };
}

/** Returns true for an explicit profile. Without one the engine uses its own profile if it has one. */
function wantsAppArmor({ spec }: Pod): boolean {
  const containers: Container[] = [...(spec.initContainers ?? []), ...spec.containers];
  return [spec.securityContext, ...containers.map(({ securityContext }) => securityContext)].some(
    (context) => {
      const type = context?.appArmorProfile?.type;
      return type !== undefined && type !== 'Unconfined';
    },
  );
}
