/**
 * A container engine as the agent sees it. The contract is in test/laws/driver-laws.ts, run against Docker, Podman and
 * the hollow engine. A driver lists and touches only the containers of its owner, which are labelled with its
 * clusterUID and node.
 */
import type { Duplex } from 'node:stream';

/** Identity of a container. A driver stores it in labels and returns it from `list`. */
export interface ContainerIdentity {
  podUid: string;
  podNamespace: string;
  podName: string;
  /** Container name in the Pod, or `SANDBOX`. */
  container: string;
  /** 0 for the first start, incremented by each restart. Creating the same attempt again is a conflict. */
  attempt: number;
}

/** Name of the container that holds a Pod's network and IPC namespaces. */
export const SANDBOX = '';

export interface Mount {
  /** Absolute path on the host. */
  hostPath: string;
  containerPath: string;
  readOnly: boolean;
  /** `private` | `rslave` | `rshared`. */
  propagation: string;
}

export interface PortBinding {
  containerPort: number;
  hostPort: number;
  hostIP?: string;
  protocol: 'tcp' | 'udp' | 'sctp';
}

export type NetworkMode = { kind: 'host' } | { kind: 'bridge' } | { kind: 'container'; id: string };

/** Replaces the engine's default system call filter. The path of a profile is absolute, on the host. */
export type SeccompChoice = { kind: 'unconfined' } | { kind: 'localhost'; path: string };

/** A container to create, computed by `decisions/container-spec/container-config.ts`. */
export interface ContainerConfig {
  identity: ContainerIdentity;
  /** Full name of the image, as `list` returns it. */
  image: string;
  /** The engine's name of the image, if it differs. */
  engineImage?: string;
  /** Entrypoint. Default: the image's. */
  command?: string[];
  args?: string[];
  workingDir?: string;
  env: string[];
  labels: Record<string, string>;
  mounts: Mount[];
  ports: PortBinding[];
  network: NetworkMode;
  /** The host's IPC namespace, a new one that others may share, or a container's. */
  ipc: { kind: 'host' } | { kind: 'shareable' } | { kind: 'container'; id: string };
  /** A new PID namespace, the host's, or a container's. */
  pid: { kind: 'private' } | { kind: 'host' } | { kind: 'container'; id: string };
  hostname?: string;
  /** Added to the host name in the container's hosts file. */
  domainname?: string;
  extraHosts?: string[];
  /** Replaces the host's DNS settings. The engine fills empty lists. */
  resolver?: { nameservers: string[]; searches: string[]; options: string[] };
  /** Kernel parameters of the container's own namespaces. */
  sysctls?: Record<string, string>;
  cpuShares?: number;
  /** CPU limit in millicores. */
  cpuLimitMilli?: number;
  memoryLimitBytes?: number;
  /** Limit of processes and threads. Default: the engine's. */
  pidsLimit?: number;
  /** From -1000 to 1000. The kernel's OOM killer prefers higher scores. */
  oomScoreAdj?: number;
  privileged: boolean;
  user?: string;
  /** Ids of supplementary groups, in addition to those of the image. */
  groups?: string[];
  readOnlyRootFilesystem: boolean;
  capabilitiesAdd: string[];
  capabilitiesDrop: string[];
  noNewPrivileges: boolean;
  /** Default: the engine's own filter. */
  seccomp?: SeccompChoice;
  /** A profile loaded on the host, or `unconfined`. Default: the engine's own. */
  appArmorProfile?: string;
  /** Parts of the SELinux context, such as `type:spc_t`. An engine without SELinux ignores them. */
  seLinuxLabels?: string[];
  tty: boolean;
  stdin: boolean;
  /** The input ends when the first client disconnects. Podman always does this. */
  stdinOnce?: boolean;
  /** The program is expected to end: the Pod's `restartPolicy` is Never or OnFailure. Only a hollow engine uses it. */
  runsToCompletion?: true;
  /** Signal and grace period are arguments of `stop`. The engine never restarts containers: the agent does. */
}

export type EngineState = 'created' | 'running' | 'exited';

/** A container as the engine reports it. Times are ms since the epoch by the host's clock. Absent = never. */
export interface ObservedContainer {
  id: string;
  identity: ContainerIdentity;
  state: EngineState;
  /** The image's name at create. */
  image: string;
  /** Digest if the engine knows one, else the image id. */
  imageID: string;
  createdAt: number;
  startedAt?: number;
  finishedAt?: number;
  exitCode?: number;
  oomKilled: boolean;
  /** The engine's error when the container could not start. */
  error?: string;
  /** The engine's file of the container's output. Absent if the engine writes none, and before the first start. */
  logPath?: string;
  /** Address in the bridge network. Absent with the host's or a sandbox's network. */
  ip?: string;
  /** The labels of `create`, such as spec hash and grace period. */
  labels: Record<string, string>;
  /** Readiness of a hollow container. Absent on real engines: there a running container is ready. */
  ready?: boolean;
  /** Set by a command to a hollow engine: overrides the Pod's phase, whatever the state of its containers. */
  podPhase?: 'Failed' | 'Succeeded';
}

/** Owner of containers. Two owners on one engine never see each other's containers. */
export interface ContainerOwner {
  clusterUID: string;
  nodeName: string;
}

export interface EngineInfo {
  /** `docker` | `podman` | `hollow`. */
  name: string;
  version: string;
  apiVersion: string;
  osImage?: string;
  kernelVersion?: string;
  /** Changes when the engine was restarted with other data. */
  id: string;
  /** The engine enforces AppArmor profiles. */
  appArmor: boolean;
  /** The engine filters system calls. */
  seccomp: boolean;
  /** The engine runs as an ordinary user. */
  rootless: boolean;
  /** The network of Pods without `hostNetwork`, with its device on this host. Absent = not reported. */
  podNetwork?: { exists: boolean; device?: string };
  /** The engine's folder of images on its own host. Absent = not reported. */
  rootDir?: string;
}

/** `container`: inspect this Pod again. `resync`: inspect all, because events may have been lost. */
export type RuntimeEvent =
  | { kind: 'container'; podUid: string }
  | { kind: 'resync' }
  | { kind: 'down'; message: string };

export interface LogRequest {
  follow: boolean;
  timestamps: boolean;
  tailLines?: number;
  /** ms since the epoch. */
  sinceMs?: number;
}

/** Output of a process. With a terminal all of it is `stdout`. */
export interface OutputChunk {
  from: 'stdout' | 'stderr';
  bytes: Uint8Array;
}

/** In characters. */
export interface TerminalSize {
  width: number;
  height: number;
}

export interface ExecRequest {
  /** Program and arguments, run without a shell. */
  command: readonly string[];
  /** If false, the process reads an empty input. */
  stdin: boolean;
  tty: boolean;
}

export interface AttachRequest {
  /** Only has an effect if the container was created with `stdin`. */
  stdin: boolean;
}

/** Streams of a process in a container. If its output is not read, the process blocks. */
export interface AttachedStreams {
  /** The output in the engine's order, to the last byte. For one reader. Leaving the loop early closes the streams. */
  readonly output: AsyncIterable<OutputChunk>;
  /** Resolves when the buffer has space again. Has no effect on a process that has exited or has no input. */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the input of the process. */
  endInput(): void;
  /** Has no effect without a terminal. */
  resize(size: TerminalSize): Promise<void>;
  /** Closes the streams. The process keeps running, but one with a terminal may get SIGHUP. */
  close(): void;
}

/** A process started by `exec`. */
export interface ExecProcess extends AttachedStreams {
  /** Resolves at the exit. Read all output before. 126 and 127: the process could not be started. */
  exitCode(): Promise<number>;
  /**
   * Sends a signal to this process only. Engines have no call for it, so the agent must be root on the engine's host
   * and uses the kernel. Returns false if it has no permission.
   */
  kill(signal?: 'SIGKILL' | 'SIGHUP'): Promise<boolean>;
}

/** Resource usage, from the kernel's counters. */
export interface ContainerUsage {
  id: string;
  podUid: string;
  /** Container name in the Pod. */
  container: string;
  /** CPU time since its start. */
  cpuNanos: number;
  /** Working set: memory without inactive pages of files. */
  memoryBytes: number;
  /** Processes and threads. Absent if the engine does not count them. */
  processes?: number;
  /** Present if it was asked for. */
  details?: UsageDetails;
}

/** Further counters since the container's start, in bytes unless named otherwise. Absent = the engine has none. */
export interface UsageDetails {
  podNamespace: string;
  podName: string;
  /** The image's name at create. */
  image: string;
  /** ms since the epoch. */
  createdAt: number;
  cpuUserNanos?: number;
  cpuSystemNanos?: number;
  /** Periods of the CPU limit, how many were cut short, and for how long in total. */
  throttling?: { periods: number; throttledPeriods: number; throttledNanos: number };
  /** All memory, including pages of files. */
  usageBytes?: number;
  /** Anonymous memory. */
  rssBytes?: number;
  cacheBytes?: number;
  swapBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
  readBytes?: number;
  writtenBytes?: number;
  /** Only of the container that owns the Pod's network. Absent with the host's network. */
  interfaces?: InterfaceCounters[];
}

/** Counters of a network interface. */
export interface InterfaceCounters {
  name: string;
  rxBytes: number;
  rxPackets: number;
  rxErrors: number;
  rxDropped: number;
  txBytes: number;
  txPackets: number;
  txErrors: number;
  txDropped: number;
}

/** Disk usage of a container, in bytes. */
export interface ContainerStorage {
  podUid: string;
  /** Container name in the Pod. */
  container: string;
  attempt: number;
  isRunning: boolean;
  /** Size of its writable layer. */
  layerBytes: number;
  /** Size of its log with rotated files. 0 if the agent has no permission to read it. */
  logBytes: number;
}

/** An image of the engine. */
export interface EngineImage {
  id: string;
  /** User of the image's config, such as `1000` or `app:app`. Empty = root. */
  user: string;
  /** Size of all its layers, including shared ones. */
  sizeBytes: number;
}

export interface PullRequest {
  image: string;
  /** Base64 authentication header for the engine. Absent = anonymous. */
  auth?: string;
  signal: AbortSignal;
  /** Called for each progress message of the engine. */
  onProgress?: () => void;
}

/** An error of the engine. `temporary`: the same call may succeed later without any change. */
export class RuntimeError extends Error {
  constructor(
    /**
     * Kubernetes' reason if there is one: ErrImagePull, ErrImageNeverPull, InvalidImageName, CreateContainerError,
     * RunContainerError. Otherwise EngineDown, Conflict, NotFound, NotRunning or ConnectFailed.
     */
    readonly reason: string,
    message: string,
    readonly temporary: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'RuntimeError';
  }
}

/** All calls throw `RuntimeError`. Stopping an exited container and removing a missing one succeed. */
export interface RuntimeDriver {
  info(): Promise<EngineInfo>;
  list(): Promise<ObservedContainer[]>;
  /** Lists the owner's containers of one Pod. */
  inspectPod(podUid: string): Promise<ObservedContainer[]>;
  /** Yields events until `signal` aborts. Starts with `resync`, and repeats it after each reconnect. */
  events(signal: AbortSignal): AsyncIterable<RuntimeEvent>;
  /**
   * Measures the containers of one Pod, or of all Pods, without sandboxes. Expensive for the engine: do not call it
   * often.
   */
  storage(podUid?: string): Promise<ContainerStorage[]>;
  /** Returns undefined when the engine does not have it. */
  findImage(image: string): Promise<EngineImage | undefined>;
  pull(request: PullRequest): Promise<void>;
  /** Gives an image another name. */
  tag(image: string, name: string): Promise<void>;
  /** Returns the ids of the images of all containers, of any owner. */
  imagesInUse(): Promise<ReadonlySet<string>>;
  /** Removes this name of the image, and the image with its last name. Throws if it is in use. */
  removeImage(image: string): Promise<void>;
  /** Loads the sandbox image unless it exists, without a registry. Returns its name. */
  ensureSandboxImage(): Promise<string>;
  /** Returns an id. Throws `Conflict` if the identity exists. `onWarning` gets settings that the engine ignores. */
  create(config: ContainerConfig, onWarning?: (text: string) => void): Promise<string>;
  start(id: string): Promise<void>;
  /** Sends the image's stop signal, and SIGKILL after the grace period. Resolves at the exit. */
  stop(id: string, graceSeconds: number): Promise<void>;
  /** Removes the container with its anonymous volumes. Kills it if it runs. */
  remove(id: string): Promise<void>;
  /** Yields stdout and stderr in order, without the engine's framing. */
  logs(id: string, request: LogRequest, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Starts a process in a running container. Throws `NotRunning`. Closes the streams when `signal` aborts. */
  exec(id: string, request: ExecRequest, signal: AbortSignal): Promise<ExecProcess>;
  /** Attaches to a running container's first process. Throws `NotRunning`. */
  attach(id: string, request: AttachRequest, signal: AbortSignal): Promise<AttachedStreams>;
  /** Connects to a port on the loopback of a running container's network. Throws `ConnectFailed` or `NotRunning`. */
  dial(id: string, port: number, signal: AbortSignal): Promise<Duplex>;
  /** Measures the owner's running containers. `detailed` adds the details, and the sandboxes. */
  usage(detailed?: boolean): Promise<ContainerUsage[]>;
  close(): void;
}
