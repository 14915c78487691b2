/** The level `baseline`: prevents known escapes from a container. Checks are in the order of upstream's messages. */
import type { Container, ContainerSecurityContext } from '../../../../shared/kube/pods/pod-types.js';
import {
  type Check,
  containerNames,
  containersThat,
  everyContainer,
  plural,
  quoted,
  type SecuredPod,
  setters,
  sortedSet,
  type Violation,
} from './security-check.js';

const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';
const PROFILES = new Set(['RuntimeDefault', 'Localhost']);
const CAPABILITIES = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  ),
);
const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

/** Allowed sysctls and the minor version since which they are allowed. */
const SYSCTLS: readonly [minor: number, name: string][] = [
  [0, 'kernel.shm_rmid_forced'],
  [0, 'net.ipv4.ip_local_port_range'],
  [0, 'net.ipv4.tcp_syncookies'],
  [0, 'net.ipv4.ping_group_range'],
  [0, 'net.ipv4.ip_unprivileged_port_start'],
  [27, 'net.ipv4.ip_local_reserved_ports'],
  [29, 'net.ipv4.tcp_keepalive_time'],
  [29, 'net.ipv4.tcp_fin_timeout'],
  [29, 'net.ipv4.tcp_keepalive_intvl'],
  [29, 'net.ipv4.tcp_keepalive_probes'],
  [32, 'net.ipv4.tcp_rmem'],
  [32, 'net.ipv4.tcp_wmem'],
];

const appArmorProfile: Check = (pod) => {
  const annotations = Object.entries(pod.metadata?.annotations ?? {}).filter(
    ([key, value]) =>
      key.startsWith(APPARMOR_ANNOTATION) &&
      value !== '' &&
      value !== 'runtime/default' &&
      !value.startsWith('localhost/'),
  );
  const isBad = (context: ContainerSecurityContext | undefined) =>
    context?.appArmorProfile?.type !== undefined && !PROFILES.has(context.appArmorProfile.type);
  const podType = pod.spec.securityContext?.appArmorProfile?.type;
  const podIsBad = podType !== undefined && !PROFILES.has(podType);
  const containers = everyContainer(pod).filter(({ securityContext }) => isBad(securityContext));
  const types = sortedSet([
    ...(podIsBad ? [podType] : []),
    ...containers.map(({ securityContext }) => securityContext?.appArmorProfile?.type ?? ''),
  ]);
  const who = setters(
    podIsBad,
    containers.map(({ name }) => name),
  );
  const details = [
    ...(who ? [`${who} must not set AppArmor profile type to ${quoted(types)}`] : []),
    ...(annotations.length > 0
      ? [
          `${plural('annotation', annotations.length)} ${annotations.map(([key, value]) => `${key}="${value}"`).join(', ')}`,
        ]
      : []),
  ];
  if (details.length === 0) return undefined;
  const count = annotations.length + types.length;
  return { reason: `forbidden AppArmor ${plural('profile', count)}`, detail: details.join(' and ') };
};

const capabilities: Check = (pod) => {
  const added = (container: Container) =>
    (container.securityContext?.capabilities?.add ?? []).filter((name) => !CAPABILITIES.has(name));
  const bad = everyContainer(pod).filter((container) => added(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = containerNames(bad.map(({ name }) => name));
  const which = quoted(sortedSet(bad.flatMap(added)));
  return {
    reason: 'non-default capabilities',
    detail: `${names} must not include ${which} in securityContext.capabilities.add`,
  };
};

const hostNamespaces: Check = ({ spec }) => {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field]);
  if (used.length === 0) return undefined;
  return { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') };
};

const hostPathVolumes: Check = ({ spec }) => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${plural('volume', names.length)} ${quoted(names)}` };
};

const hostPorts: Check = (pod) => {
  const portsOf = ({ ports = [] }: Container) => ports.flatMap(({ hostPort }) => hostPort || []);
  const bad = everyContainer(pod).filter((container) => portsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = containerNames(bad.map(({ name }) => name));
  const ports = sortedSet(bad.flatMap(portsOf).map(String));
  const detail = `${names} ${bad.length === 1 ? 'uses' : 'use'} ${plural('hostPort', ports.length)} ${ports.join(', ')}`;
  return { reason: 'hostPort', detail };
};

const hostProbes: Check = (pod, minor) => {
  if (minor < 34) return undefined;
  const hostsOf = (container: Container) => {
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
    const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
    return handlers.flatMap((handler) =>
      [handler?.httpGet?.host, handler?.tcpSocket?.host].filter((host): host is string => Boolean(host)),
    );
  };
  const bad = everyContainer(pod).filter((container) => hostsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = sortedSet(bad.map(({ name }) => name));
  const hosts = sortedSet(bad.flatMap(hostsOf));
  const verb = names.length === 1 ? 'uses' : 'use';
  return {
    reason: 'probe or lifecycle host',
    detail: `${containerNames(names)} ${verb} ${plural('probe or lifecycle host', hosts.length)} ${quoted(hosts)}`,
  };
};

/** Returns the violation of containers with a forbidden setting. */
function forbidContainers(reason: string, names: readonly string[], what: string): Violation | undefined {
  return names.length > 0 ? { reason, detail: `${containerNames(names)} must not set ${what}` } : undefined;
}

const privileged: Check = (pod) =>
  forbidContainers(
    'privileged',
    containersThat(pod, ({ securityContext }) => securityContext?.privileged === true),
    'securityContext.privileged=true',
  );

const procMount: Check = (pod, minor) => {
  // With its own user namespace, a Pod may see all of /proc.
  if (minor >= 30 && pod.spec.hostUsers === false) return undefined;
  const typeOf = ({ securityContext }: Container) => securityContext?.procMount ?? 'Default';
  const bad = everyContainer(pod).filter((container) => typeOf(container) !== 'Default');
  const types = quoted(sortedSet(bad.map(typeOf)));
  return forbidContainers(
    'procMount',
    bad.map(({ name }) => name),
    `securityContext.procMount to ${types}`,
  );
};

const seLinuxOptions: Check = (pod, minor) => {
  const allowed = minor >= 31 ? [...SELINUX_TYPES, 'container_engine_t'] : SELINUX_TYPES;
  const badTypes: string[] = [];
  let userIsSet = false;
  let roleIsSet = false;
  const isBad = (options: Record<string, string> | undefined): boolean => {
    if (!options) return false;
    const { type = '', user = '', role = '' } = options;
    if (!allowed.includes(type)) badTypes.push(type);
    userIsSet ||= user !== '';
    roleIsSet ||= role !== '';
    return !allowed.includes(type) || user !== '' || role !== '';
  };
  const podIsBad = isBad(pod.spec.securityContext?.seLinuxOptions);
  const names = containersThat(pod, ({ securityContext }) => isBad(securityContext?.seLinuxOptions));
  const who = setters(podIsBad, names);
  if (!who) return undefined;
  const types = sortedSet(badTypes);
  const data = [
    ...(types.length > 0 ? [`${plural('type', types.length)} ${quoted(types)}`] : []),
    ...(userIsSet ? ['user may not be set'] : []),
    ...(roleIsSet ? ['role may not be set'] : []),
  ];
  return {
    reason: 'seLinuxOptions',
    detail: `${who} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
  };
};

/** Finds an explicit `Unconfined` or an unknown profile type. The level `restricted` uses it as well. */
export function badSeccompSetters(pod: SecuredPod): Violation | undefined {
  const podType = pod.spec.securityContext?.seccompProfile?.type;
  const podIsBad = podType !== undefined && !PROFILES.has(podType);
  const typeOf = ({ securityContext }: Container) => securityContext?.seccompProfile?.type;
  const bad = everyContainer(pod).filter((container) => {
    const type = typeOf(container);
    return type !== undefined && !PROFILES.has(type);
  });
  const who = setters(
    podIsBad,
    bad.map(({ name }) => name),
  );
  if (!who) return undefined;
  const types = quoted(sortedSet([...(podIsBad ? [podType] : []), ...bad.map((one) => typeOf(one) ?? '')]));
  return {
    reason: 'seccompProfile',
    detail: `${who} must not set securityContext.seccompProfile.type to ${types}`,
  };
}

/** Before 1.19 the profile was an annotation, which is not supported. */
const seccompProfile: Check = (pod, minor) => (minor >= 19 ? badSeccompSetters(pod) : undefined);

const sysctls: Check = ({ spec }, minor) => {
  const allowed = SYSCTLS.filter(([from]) => minor >= from).map(([, name]) => name);
  const bad = (spec.securityContext?.sysctls ?? [])
    .map(({ name }) => name)
    .filter((name) => !allowed.includes(name));
  if (bad.length === 0) return undefined;
  return { reason: 'forbidden sysctls', detail: bad.join(', ') };
};

const windowsHostProcess: Check = (pod) => {
  const isSet = (options: Record<string, unknown> | undefined) => options?.hostProcess === true;
  const names = containersThat(pod, ({ securityContext }) => isSet(securityContext?.windowsOptions));
  const who = setters(isSet(pod.spec.securityContext?.windowsOptions), names);
  if (!who) return undefined;
  return {
    reason: 'hostProcess',
    detail: `${who} must not set securityContext.windowsOptions.hostProcess=true`,
  };
};

/** Checks by name. The level `restricted` replaces some of them. */
export const BASELINE: Readonly<Record<string, Check>> = {
  appArmorProfile,
  capabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seLinuxOptions,
  seccompProfile,
  sysctls,
  windowsHostProcess,
};
