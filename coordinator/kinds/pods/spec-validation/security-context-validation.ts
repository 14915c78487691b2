/** Validation of security contexts. */
import type {
  ContainerSecurityContext,
  LocalProfile,
  PodSpec,
} from '../../../../shared/kube/pods/pod-types.js';
import type { FieldError } from '../../kind.js';
import { duplicate, invalidValue, notSupported, required } from '../../validation/field-error.js';
import { validateDescendingPath, validateId } from './value-validation.js';

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const PROC_MOUNTS = ['Default', 'Unmasked'];
const GROUP_CHANGE_POLICIES = ['Always', 'OnRootMismatch'];
const GROUPS_POLICIES = ['Merge', 'Strict'];
const SYSCTL = /^[a-z0-9]([-_a-z0-9]*[a-z0-9])?([./][a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;
const IPC_SYSCTL = /^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/;
const SYSCTL_MAX = 253;
const SYSCTL_ERROR =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

function validateEnum(value: string | undefined, allowed: readonly string[], field: string): FieldError[] {
  return value === undefined || allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
}

function validateLocalProfileName(profile: LocalProfile, flavour: string, field: string): FieldError[] {
  const path = `${field}.localhostProfile`;
  if (profile.type === 'Localhost') {
    if (!profile.localhostProfile) return [required(path, `must be set when ${flavour} type is Localhost`)];
    return flavour === 'seccomp' ? validateDescendingPath(profile.localhostProfile, path) : [];
  }
  const known = flavour === 'seccomp' || PROFILE_TYPES.includes(profile.type ?? '');
  if (profile.localhostProfile === undefined || !known) return [];
  return [invalidValue(path, profile.localhostProfile, `can only be set when ${flavour} type is Localhost`)];
}

/** `flavour` is the word in upstream's messages. */
function validateProfile(
  profile: LocalProfile | undefined,
  flavour: 'seccomp' | 'AppArmor',
  field: string,
): FieldError[] {
  if (!profile) return [];
  const typeField = `${field}.type`;
  const name = flavour === 'seccomp' ? 'seccompProfile' : 'appArmorProfile';
  const typeErrors = profile.type
    ? validateEnum(profile.type, PROFILE_TYPES, typeField)
    : [required(typeField, `type is required when ${name} is set`)];
  return [...typeErrors, ...validateLocalProfileName(profile, flavour, field)];
}

function validateEscalation(context: ContainerSecurityContext, field: string): FieldError[] {
  if (context.allowPrivilegeEscalation !== false) return [];
  const errors: FieldError[] = [];
  if (context.privileged) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true';
    errors.push(invalidValue(field, context, detail));
  }
  if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
    const detail = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
    errors.push(invalidValue(field, context, detail));
  }
  return errors;
}

/** An unmasked /proc needs a user namespace. */
function validateProcMount(mode: string | undefined, hostUsers: boolean, field: string): FieldError[] {
  const errors = validateEnum(mode, PROC_MOUNTS, field);
  if (mode !== 'Unmasked' || !hostUsers) return errors;
  return [...errors, invalidValue(field, mode, '`hostUsers` must be false to use `Unmasked`')];
}

export function validateContainerSecurity(
  context: ContainerSecurityContext | undefined,
  hostUsers: boolean,
  field: string,
): FieldError[] {
  if (!context) return [];
  return [
    ...validateId(context.runAsUser, `${field}.runAsUser`),
    ...validateId(context.runAsGroup, `${field}.runAsGroup`),
    ...validateProcMount(context.procMount, hostUsers, `${field}.procMount`),
    ...validateProfile(context.seccompProfile, 'seccomp', `${field}.seccompProfile`),
    ...validateEscalation(context, field),
    ...validateProfile(context.appArmorProfile, 'AppArmor', `${field}.appArmorProfile`),
  ];
}

/** A Pod must not change sysctls of a namespace that it shares with the host. */
function validateHostSysctl(name: string, spec: PodSpec, field: string): FieldError[] {
  const dotted = name.replaceAll('/', '.');
  if (spec.hostNetwork && dotted.startsWith('net.')) {
    return [invalidValue(field, name, "may not be specified when 'hostNetwork' is true")];
  }
  if (!spec.hostIPC || !IPC_SYSCTL.test(dotted)) return [];
  return [invalidValue(field, name, "may not be specified when 'hostIPC' is true")];
}

function validateSysctlName(name: string, earlier: ReadonlySet<string>, field: string): FieldError[] {
  if (!name) return [required(field)];
  if (name.length > SYSCTL_MAX || !SYSCTL.test(name)) return [invalidValue(field, name, SYSCTL_ERROR)];
  return earlier.has(name) ? [duplicate(field, name)] : [];
}

function validateSysctls(spec: PodSpec, field: string): FieldError[] {
  const names = new Set<string>();
  return (spec.securityContext?.sysctls ?? []).flatMap(({ name = '' }, index) => {
    const path = `${field}[${index}].name`;
    const errors = [...validateSysctlName(name, names, path), ...validateHostSysctl(name, spec, path)];
    names.add(name);
    return errors;
  });
}

export function validatePodSecurity(spec: PodSpec, field: string): FieldError[] {
  const context = spec.securityContext ?? {};
  const shared = `${field}.shareProcessNamespace`;
  return [
    ...validateId(context.runAsUser, `${field}.runAsUser`),
    ...validateId(context.runAsGroup, `${field}.runAsGroup`),
    ...validateId(context.fsGroup, `${field}.fsGroup`),
    ...(context.supplementalGroups ?? []).flatMap((group, index) =>
      validateId(group, `${field}.supplementalGroups[${index}]`),
    ),
    ...(spec.hostPID && spec.shareProcessNamespace
      ? [invalidValue(shared, true, 'ShareProcessNamespace and HostPID cannot both be enabled')]
      : []),
    ...validateSysctls(spec, `${field}.sysctls`),
    ...validateEnum(context.fsGroupChangePolicy, GROUP_CHANGE_POLICIES, `${field}.fsGroupChangePolicy`),
    ...validateProfile(context.seccompProfile, 'seccomp', `${field}.seccompProfile`),
    ...validateEnum(context.supplementalGroupsPolicy, GROUPS_POLICIES, `${field}.supplementalGroupsPolicy`),
    ...validateProfile(context.appArmorProfile, 'AppArmor', `${field}.appArmorProfile`),
  ];
}
