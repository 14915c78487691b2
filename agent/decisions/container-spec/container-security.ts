/** Who a container's processes are and what they may do (pkg/securitycontext, kuberuntime security_context.go). */
import { join } from 'node:path';
import type {
  Container,
  ContainerSecurityContext,
  LocalProfile,
  Pod,
} from '../../../shared/kube/pods/pod-types.js';
import type { ContainerConfig, SeccompChoice } from '../../runtime/runtime-driver.js';
import type { HostIsolation } from '../admission/host-isolation.js';

/** Fields of the Pod that its containers take over unless they say otherwise. */
const INHERITED = ['runAsUser', 'runAsGroup', 'runAsNonRoot', 'seccompProfile', 'appArmorProfile'] as const;

/** The container's own settings over the Pod's (DetermineEffectiveSecurityContext). */
function effectiveSecurity(pod: Pod, container: Container): ContainerSecurityContext {
  const shared: ContainerSecurityContext = pod.spec.securityContext ?? {};
  const inherited = INHERITED.filter((field) => shared[field] !== undefined).map((field) => [
    field,
    shared[field],
  ]);
  const own = Object.entries(container.securityContext ?? {}).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(inherited), ...Object.fromEntries(own) };
}

/** Why the container may not run as who it is (verifyRunAsNonRoot); undefined when it may. `imageUser` as the image's maker set it. */
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
>;

/** What the engine is told. `imageUser` as the image's maker set it. */
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
  };
}

/** Capabilities that the container asks for, by name or as all, and that this host has none of. */
export function missingCapabilities(
  { securityContext: { privileged, capabilities } = {} }: Container,
  { missingCapabilities: missing }: HostIsolation,
): string[] {
  const added = (capabilities?.add ?? []).map((name) => name.toUpperCase().replace(/^CAP_/, ''));
  return missing.filter((name) => privileged || added.includes('ALL') || added.includes(name));
}

/** The host's filter is missing though the Pod asks for it by name. */
export function wantsMissingSeccomp(pod: Pod, container: Container, isolation: HostIsolation): boolean {
  const type = effectiveSecurity(pod, container).seccompProfile?.type;
  return !isolation.seccomp && type !== undefined && type !== 'Unconfined';
}

/** A group alone goes with the image's user. */
function userText(
  { runAsUser, runAsGroup }: ContainerSecurityContext,
  imageUser: string,
): string | undefined {
  const user = runAsUser ?? (imageUser.split(':')[0] || '0');
  if (runAsGroup !== undefined) return `${user}:${runAsGroup}`;
  return runAsUser === undefined ? undefined : String(runAsUser);
}

/** The group of the Pod's volumes is one of every process's (GetAdditionalGroups). */
function groupsOf(pod: Pod): string[] {
  const { supplementalGroups = [], fsGroup } = pod.spec.securityContext ?? {};
  const groups = fsGroup === undefined ? supplementalGroups : [...supplementalGroups, fsGroup];
  return groups.map(String);
}

/** Without a profile the engine's own filter stays, as under a kubelet with `seccompDefault`. */
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
