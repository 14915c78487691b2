/** Converts the agent's container configuration to the Docker Engine API's, and identities to labels. Pure. */
import type { ContainerConfig, ContainerIdentity, ContainerOwner, Mount } from '../runtime-driver.js';

/** Labels that identify the agent's containers. */
export const LABEL = {
  cluster: 'everynode.dev/cluster',
  node: 'everynode.dev/node',
  podUid: 'everynode.dev/pod-uid',
  podNamespace: 'everynode.dev/pod-namespace',
  podName: 'everynode.dev/pod-name',
  container: 'everynode.dev/container',
  attempt: 'everynode.dev/attempt',
  image: 'everynode.dev/image',
} as const;

/** CFS period of 100 ms, like the kubelet's. The kernel rejects quotas below 1 ms. */
const CPU_PERIOD_US = 100_000;
const LEAST_CPU_QUOTA_US = 1_000;
/**
 * The kubelet's defaults of `containerLogMaxSize` and `containerLogMaxFiles`, for log drivers without a limit of their
 * own. Podman keeps a single file and truncates it when it is full, so that file gets the whole size.
 */
const LOG_LIMITS: Readonly<Record<string, Record<string, string>>> = {
  // The engine's defaults may compress rotated files, which the agent reads.
  'json-file': { 'max-size': '10m', 'max-file': '5', compress: 'false' },
  'k8s-file': { 'max-size': '50m' },
};

/**
 * Returns the log driver of Pods' containers. `hasLogFiles`: the agent reads the engine's log files. They replace only
 * drivers that keep the log on this host: an operator who sends all logs elsewhere has chosen that.
 */
export function podLogDriver(engine: string, engineDefault: string, hasLogFiles: boolean): string {
  if (!hasLogFiles) return engineDefault;
  if (engine === 'podman') return engineDefault === 'journald' ? 'k8s-file' : engineDefault;
  return engineDefault === 'local' ? 'json-file' : engineDefault;
}

/** Returns the label filter for list and event calls: the containers of this owner, or of one of its Pods. */
export function ownerFilter(owner: ContainerOwner, podUid?: string): string[] {
  const labels = [`${LABEL.cluster}=${owner.clusterUID}`, `${LABEL.node}=${owner.nodeName}`];
  return podUid === undefined ? labels : [...labels, `${LABEL.podUid}=${podUid}`];
}

/** Returns whether the labels name this cluster and node. */
export function isOwnedBy(labels: Record<string, string> | null, owner: ContainerOwner): boolean {
  return labels?.[LABEL.cluster] === owner.clusterUID && labels[LABEL.node] === owner.nodeName;
}

/**
 * Derives the engine's container name from the identity, so that the engine rejects a repeated create. `POD` is the
 * sandbox: no container of a Pod can have that name, because Kubernetes allows only lower-case names.
 */
export function containerName({ podUid, container, attempt }: ContainerIdentity): string {
  return `everynode_${podUid}_${container || 'POD'}_${attempt}`;
}

/** Options of a create call that depend on the engine. */
export interface CreateOptions {
  /** The log driver of the container. */
  logDriver: string;
  /** `unconfined`, or a profile as the engine takes it: Docker its text, Podman its path. */
  seccomp?: string | undefined;
}

/** Returns the body of `POST /containers/create`. */
export function toCreateBody(config: ContainerConfig, owner: ContainerOwner, options: CreateOptions): object {
  const ownsNetwork = config.network.kind !== 'container';
  return {
    Image: config.engineImage ?? config.image,
    ...(config.command?.length ? { Entrypoint: config.command } : {}),
    ...(config.args?.length ? { Cmd: config.args } : {}),
    ...(config.workingDir ? { WorkingDir: config.workingDir } : {}),
    ...(config.user ? { User: config.user } : {}),
    ...(config.hostname && ownsNetwork ? { Hostname: config.hostname } : {}),
    ...(config.domainname && ownsNetwork ? { Domainname: config.domainname } : {}),
    Env: config.env,
    Labels: toLabels(config, owner),
    Tty: config.tty,
    OpenStdin: config.stdin,
    ...(config.stdinOnce ? { StdinOnce: true } : {}),
    ExposedPorts: Object.fromEntries(
      config.ports.map((port) => [`${port.containerPort}/${port.protocol}`, {}]),
    ),
    HostConfig: toHostConfig(config, options, ownsNetwork),
  };
}

function toHostConfig(config: ContainerConfig, options: CreateOptions, ownsNetwork: boolean): object {
  return {
    RestartPolicy: { Name: 'no' },
    NetworkMode: config.network.kind === 'container' ? `container:${config.network.id}` : config.network.kind,
    IpcMode: config.ipc.kind === 'container' ? `container:${config.ipc.id}` : config.ipc.kind,
    PidMode: toPidMode(config.pid),
    PortBindings: toPortBindings(config),
    Mounts: config.mounts.map(toMount),
    ...(config.extraHosts?.length && ownsNetwork ? { ExtraHosts: config.extraHosts } : {}),
    ...(ownsNetwork ? toResolver(config) : {}),
    ...toLimits(config),
    Privileged: config.privileged,
    ReadonlyRootfs: config.readOnlyRootFilesystem,
    CapAdd: config.capabilitiesAdd,
    CapDrop: config.capabilitiesDrop,
    ...(config.groups?.length ? { GroupAdd: config.groups } : {}),
    ...(config.sysctls ? { Sysctls: config.sysctls } : {}),
    SecurityOpt: toSecurityOptions(config, options.seccomp),
    ...(LOG_LIMITS[options.logDriver]
      ? { LogConfig: { Type: options.logDriver, Config: LOG_LIMITS[options.logDriver] } }
      : {}),
  };
}

function toSecurityOptions(config: ContainerConfig, seccomp: string | undefined): string[] {
  return [
    ...(config.noNewPrivileges ? ['no-new-privileges'] : []),
    ...(seccomp === undefined ? [] : [`seccomp=${seccomp}`]),
    ...(config.appArmorProfile === undefined ? [] : [`apparmor=${config.appArmorProfile}`]),
    ...(config.seLinuxLabels ?? []).map((label) => `label=${label}`),
  ];
}

/** The memory limit also limits swap. Otherwise a container over its limit would swap instead of being OOM-killed. */
function toLimits(config: ContainerConfig): object {
  const { cpuShares, cpuLimitMilli, memoryLimitBytes, pidsLimit, oomScoreAdj } = config;
  return {
    ...(cpuShares === undefined ? {} : { CpuShares: cpuShares }),
    ...(cpuLimitMilli === undefined
      ? {}
      : {
          CpuPeriod: CPU_PERIOD_US,
          CpuQuota: Math.max(Math.ceil((cpuLimitMilli * CPU_PERIOD_US) / 1000), LEAST_CPU_QUOTA_US),
        }),
    ...(memoryLimitBytes === undefined ? {} : { Memory: memoryLimitBytes, MemorySwap: memoryLimitBytes }),
    ...(pidsLimit === undefined ? {} : { PidsLimit: pidsLimit }),
    ...(oomScoreAdj === undefined ? {} : { OomScoreAdj: oomScoreAdj }),
  };
}

function toPidMode(pid: ContainerConfig['pid']): string {
  if (pid.kind === 'private') return '';
  return pid.kind === 'host' ? 'host' : `container:${pid.id}`;
}

function toResolver({ resolver }: ContainerConfig): object {
  const { nameservers = [], searches = [], options = [] } = resolver ?? {};
  return {
    ...(nameservers.length > 0 ? { Dns: nameservers } : {}),
    ...(searches.length > 0 ? { DnsSearch: searches } : {}),
    ...(options.length > 0 ? { DnsOptions: options } : {}),
  };
}

function toPortBindings({ ports }: ContainerConfig): Record<string, { HostIp: string; HostPort: string }[]> {
  const bindings: Record<string, { HostIp: string; HostPort: string }[]> = {};
  for (const port of ports) {
    const key = `${port.containerPort}/${port.protocol}`;
    bindings[key] = [
      ...(bindings[key] ?? []),
      { HostIp: port.hostIP ?? '', HostPort: String(port.hostPort) },
    ];
  }
  return bindings;
}

function toMount(mount: Mount): object {
  return {
    Type: 'bind',
    Source: mount.hostPath,
    Target: mount.containerPath,
    ReadOnly: mount.readOnly,
    // `private` is the engines' default. If it is given explicitly, Docker rejects mounts of a parent of its data root,
    // such as "/".
    ...(mount.propagation === 'private' ? {} : { BindOptions: { Propagation: mount.propagation } }),
  };
}

function toLabels(
  { identity, image, labels }: ContainerConfig,
  owner: ContainerOwner,
): Record<string, string> {
  return {
    ...labels,
    [LABEL.cluster]: owner.clusterUID,
    [LABEL.node]: owner.nodeName,
    [LABEL.podUid]: identity.podUid,
    [LABEL.podNamespace]: identity.podNamespace,
    [LABEL.podName]: identity.podName,
    [LABEL.container]: identity.container,
    [LABEL.attempt]: String(identity.attempt),
    [LABEL.image]: image,
  };
}

/** Reads a container's identity from its labels. */
export function toIdentity(labels: Record<string, string>): ContainerIdentity {
  return {
    podUid: labels[LABEL.podUid] ?? '',
    podNamespace: labels[LABEL.podNamespace] ?? '',
    podName: labels[LABEL.podName] ?? '',
    container: labels[LABEL.container] ?? '',
    attempt: Number(labels[LABEL.attempt] ?? 0),
  };
}
