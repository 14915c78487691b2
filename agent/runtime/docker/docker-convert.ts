/** Between our words for containers and the Docker Engine API's; pure. */
import type {
  ContainerConfig,
  ContainerIdentity,
  ContainerOwner,
  EngineState,
  Mount,
  ObservedContainer,
} from '../runtime-driver.js';

/** Labels that make a container ours, and tell which. */
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

/** CPU is dealt out in periods of 100 ms, as the kubelet does; the kernel takes no quota below 1 ms. */
const CPU_PERIOD_US = 100_000;
const LEAST_CPU_QUOTA_US = 1_000;
/**
 * As the kubelet's `containerLogMaxSize` and `containerLogMaxFiles`, by the drivers that let a log grow without bound.
 * Podman keeps one file and begins it anew when it is full: it gets all the room at once.
 */
const LOG_LIMITS: Readonly<Record<string, Record<string, string>>> = {
  'json-file': { 'max-size': '10m', 'max-file': '5' },
  'k8s-file': { 'max-size': '50m' },
};

/** What `GET /containers/ID/json` answers, the part that is read. */
export interface InspectResponse {
  Id: string;
  Created: string;
  /** Id of the image. */
  Image: string;
  Config: { Labels: Record<string, string> | null; Tty?: boolean };
  HostConfig: { NetworkMode?: string; IpcMode?: string };
  State: {
    Status: string;
    ExitCode: number;
    OOMKilled: boolean;
    Error: string;
    StartedAt: string;
    FinishedAt: string;
    /** As the engine's host numbers it; 0 unless running. */
    Pid?: number;
  };
  NetworkSettings: { Networks: Record<string, { IPAddress: string } | null> | null };
}

/** The filter of list and event calls that lets only this owner's containers through, and one Pod's if named. */
export function ownerFilter(owner: ContainerOwner, podUid?: string): string[] {
  const labels = [`${LABEL.cluster}=${owner.clusterUID}`, `${LABEL.node}=${owner.nodeName}`];
  return podUid === undefined ? labels : [...labels, `${LABEL.podUid}=${podUid}`];
}

/** True for labels that we put on for this fleet and node. */
export function isOwnedBy(labels: Record<string, string> | null, owner: ContainerOwner): boolean {
  return labels?.[LABEL.cluster] === owner.clusterUID && labels[LABEL.node] === owner.nodeName;
}

/** An engine's name for a container: it follows from the identity, so a repeated create is refused. No container of a Pod can be called POD. */
export function containerName({ podUid, container, attempt }: ContainerIdentity): string {
  return `everynode_${podUid}_${container || 'POD'}_${attempt}`;
}

/** What an engine wants said besides. */
export interface CreateOptions {
  /** The engine's default. */
  logDriver: string;
  /** `unconfined`, or a profile as the engine takes it: its text or its path. */
  seccomp?: string | undefined;
}

/** The body of `POST /containers/create`. */
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
  ];
}

/** A limit on memory is one on memory and swap together: a container over it is killed, as Kubernetes promises. */
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
    // Private is the engines' default; said aloud, Docker refuses it for what its own data lie under, such as "/".
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

/** `imageID` is the digest form, if the caller knows one. */
export function toObservedContainer(answer: InspectResponse, imageID: string): ObservedContainer {
  const labels = answer.Config.Labels ?? {};
  const state = toState(answer.State.Status);
  const startedAt = toTime(answer.State.StartedAt);
  // Docker notes the start of a very short life after its end.
  const endedAt = state === 'exited' ? toTime(answer.State.FinishedAt) : undefined;
  const finishedAt = endedAt === undefined ? undefined : Math.max(endedAt, startedAt ?? 0);
  const ip = addressOf(answer.NetworkSettings);
  return {
    id: answer.Id,
    identity: toIdentity(labels),
    state,
    image: labels[LABEL.image] ?? '',
    imageID,
    createdAt: toTime(answer.Created) ?? 0,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(state === 'exited' ? { exitCode: answer.State.ExitCode } : {}),
    oomKilled: answer.State.OOMKilled,
    ...(answer.State.Error ? { error: answer.State.Error } : {}),
    ...(ip ? { ip } : {}),
    labels: withoutOurs(labels),
  };
}

/** Its address on the engine's bridge. */
export function addressOf({ Networks }: InspectResponse['NetworkSettings']): string | undefined {
  return Object.values(Networks ?? {}).find((network) => network?.IPAddress)?.IPAddress;
}

/** Where a container belongs, by its labels. */
export function toIdentity(labels: Record<string, string>): ContainerIdentity {
  return {
    podUid: labels[LABEL.podUid] ?? '',
    podNamespace: labels[LABEL.podNamespace] ?? '',
    podName: labels[LABEL.podName] ?? '',
    container: labels[LABEL.container] ?? '',
    attempt: Number(labels[LABEL.attempt] ?? 0),
  };
}

const OUR_LABELS = new Set<string>(Object.values(LABEL));

/** What the agent gave at create, and what the image brought along. */
function withoutOurs(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !OUR_LABELS.has(key)));
}

/** Docker's words, and Podman's (`configured`, `initialized`, `stopping`, `stopped`). */
function toState(status: string): EngineState {
  switch (status) {
    case 'created':
    case 'configured':
    case 'initialized':
      return 'created';
    case 'running':
    case 'paused':
    case 'restarting':
    case 'stopping':
      return 'running';
    default:
      return 'exited';
  }
}

/** Both engines write the year 1 for "never". */
function toTime(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isFinite(time) && time > 0 ? time : undefined;
}
