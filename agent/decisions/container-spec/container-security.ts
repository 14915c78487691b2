/** User, privileges and profiles of a container's processes (pkg/securitycontext, kuberuntime security_context.go). */
import { join } from 'node:path';
import type {
  Container,
  ContainerSecurityContext,
  LocalProfile,
  Pod,
} from '../../../shared/kube/pods/pod-types.js';
import type { ContainerConfig, SeccompChoice } from '../../runtime/runtime-driver.js';
import type { HostIsolation } from '../admission/host-isolation.js';
import { engineLimits, oomScore } from './container-limits.js';

/** Fields of the Pod's security context that containers inherit. */
const INHERITED = [
  'runAsUser',
  'runAsGroup',
  'runAsNonRoot',
  'seccompProfile',
  'appArmorProfile',
  'seLinuxOptions',
] as const;

/** Merges the container's settings into the Pod's (DetermineEffectiveSecurityContext). */
function effectiveSecurity(pod: Pod, container: Container): ContainerSecurityContext {
  const shared: ContainerSecurityContext = pod.spec.securityContext ?? {};
  const inherited = INHERITED.filter((field) => shared[field] !== undefined).map((field) => [
    field,
    shared[field],
  ]);
  const own = Object.entries(container.securityContext ?? {}).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(inherited), ...Object.fromEntries(own) };
}

/**
 * Returns why the container violates runAsNonRoot (verifyRunAsNonRoot); undefined if it does not. `imageUser`: user set
 * by the image.
 */
export function refusedAsRoot(pod: Pod, container: Container, imageUser: string): string | undefined {
  const { runAsUser, runAsNonRoot } = effectiveSecurity(pod, container);
  if (!runAsNonRoot) return undefined;
  const { name, namespace, uid } = pod.metadata;
  const where = `(pod: "${name}_${namespace}(${uid})", container: ${container.name})`;
  if (runAsUser !== undefined) {
    return runAsUser === 0 ? `container's runAsUser breaks non-root policy ${where}` : undefined;
  }
  const [user = ''] = imageUser.split(':');
  if (user === '' || Number(user) === 0) {
    return `container has runAsNonRoot and image will run as root ${where}`;
  }
  if (/^\d+$/.test(user)) return undefined;
  const why = `image has non-numeric user (${user}), cannot verify user is non-root`;
  return `container has runAsNonRoot and ${why} ${where}`;
}

type EngineSecurity = Pick<
  ContainerConfig,
  | 'privileged'
  | 'user'
  | 'groups'
  | 'readOnlyRootFilesystem'
  | 'capabilitiesAdd'
  | 'capabilitiesDrop'
  | 'noNewPrivileges'
  | 'seccomp'
  | 'appArmorProfile'
  | 'seLinuxLabels'
>;

/** Returns the security options for the engine. `imageUser`: user set by the image. */
export function engineSecurity(
  pod: Pod,
  container: Container,
  isolation: HostIsolation,
  imageUser: string,
): EngineSecurity {
  const security = effectiveSecurity(pod, container);
  const user = userText(security, imageUser);
  const groups = groupsOf(pod);
  const seccomp = seccompOf(security.seccompProfile, isolation.seccompRoot);
  const seLinuxLabels = seLinuxLabelsOf(security.seLinuxOptions);
  const appArmor = isolation.appArmor ? appArmorOf(security.appArmorProfile) : undefined;
  return {
    privileged: security.privileged ?? false,
    ...(user ? { user } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    readOnlyRootFilesystem: security.readOnlyRootFilesystem ?? false,
    capabilitiesAdd: security.capabilities?.add ?? [],
    capabilitiesDrop: security.capabilities?.drop ?? [],
    noNewPrivileges: security.allowPrivilegeEscalation === false,
    ...(seccomp ? { seccomp } : {}),
    ...(appArmor ? { appArmorProfile: appArmor } : {}),
    ...(seLinuxLabels.length > 0 ? { seLinuxLabels } : {}),
  };
}

const SELINUX_FIELDS = ['user', 'role', 'type', 'level'] as const;

/** Returns for example `type:spc_t`. The whole context of the container replaces that of the Pod, as upstream. */
function seLinuxLabelsOf(options: Record<string, string> = {}): string[] {
  return SELINUX_FIELDS.flatMap((field) => (options[field] ? [`${field}:${options[field]}`] : []));
}

/** Returns the requested capabilities that no container can have on this host. */
function missingCapabilities(
  { securityContext: { privileged, capabilities } = {} }: Container,
  { missingCapabilities: missing }: HostIsolation,
): string[] {
  const added = (capabilities?.add ?? []).map((name) => name.toUpperCase().replace(/^CAP_/, ''));
  return missing.filter((name) => privileged || added.includes('ALL') || added.includes(name));
}

/** Returns true if the Pod requests a seccomp profile and the host has no seccomp. */
function wantsMissingSeccomp(pod: Pod, container: Container, isolation: HostIsolation): boolean {
  const type = effectiveSecurity(pod, container).seccompProfile?.type;
  return !isolation.seccomp && type !== undefined && type !== 'Unconfined';
}

/** A group without a user applies to the image's user. */
function userText(
  { runAsUser, runAsGroup }: ContainerSecurityContext,
  imageUser: string,
): string | undefined {
  const user = runAsUser ?? (imageUser.split(':')[0] || '0');
  if (runAsGroup !== undefined) return `${user}:${runAsGroup}`;
  return runAsUser === undefined ? undefined : String(runAsUser);
}

/** Adds the group of the Pod's volumes to every process (GetAdditionalGroups). */
function groupsOf(pod: Pod): string[] {
  const { supplementalGroups = [], fsGroup } = pod.spec.securityContext ?? {};
  const groups = fsGroup === undefined ? supplementalGroups : [...supplementalGroups, fsGroup];
  return groups.map(String);
}

/** Without a profile the engine's default filter applies, like a kubelet with `seccompDefault`. */
function seccompOf(profile: LocalProfile | undefined, root: string): SeccompChoice | undefined {
  switch (profile?.type) {
    case 'Unconfined':
      return { kind: 'unconfined' };
    case 'Localhost':
      return { kind: 'localhost', path: join(root, profile.localhostProfile ?? '') };
    default:
      return undefined;
  }
}

function appArmorOf(profile: LocalProfile | undefined): string | undefined {
  switch (profile?.type) {
    case 'Unconfined':
      return 'unconfined';
    case 'Localhost':
      return profile.localhostProfile;
    default:
      return undefined;
  }
}

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
