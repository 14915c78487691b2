/**
 * A container engine as the agent sees it. Its laws are test/laws/driver-laws.ts, run against Docker, Podman and the fake.
 * "Ours" are the containers labelled with this clusterUID and node; a driver never lists or touches any other.
 */
import type { Duplex } from 'node:stream';

/** Where a container belongs; a driver keeps it in labels and gives it back from `list`. */
export interface ContainerIdentity {
  podUid: string;
  podNamespace: string;
  podName: string;
  /** Container name in the Pod, or `SANDBOX`. */
  container: string;
  /** 0 for the first start, then one more a restart: a repeated create of the same attempt is a conflict and no copy. */
  attempt: number;
}

/** The container that holds a Pod's network and IPC namespaces. */
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

/** A filter of system calls in the place of the engine's. A profile's path is absolute, on the host. */
export type SeccompChoice = { kind: 'unconfined' } | { kind: 'localhost'; path: string };

/** Everything the engine is asked for; computed by `decisions/container-spec/container-config.ts`. */
export interface ContainerConfig {
  identity: ContainerIdentity;
  /** By its full name: what `list` gives back. */
  image: string;
  /** What this engine calls it, where that is another name. */
  engineImage?: string;
  /** Entrypoint; absent = the image's. */
  command?: string[];
  args?: string[];
  workingDir?: string;
  env: string[];
  labels: Record<string, string>;
  mounts: Mount[];
  ports: PortBinding[];
  network: NetworkMode;
  /** Share the IPC namespace of this container, `host`, or have one that others may share. */
  ipc: { kind: 'host' } | { kind: 'shareable' } | { kind: 'container'; id: string };
  /** Its own, the host's, or that of this container. */
  pid: { kind: 'private' } | { kind: 'host' } | { kind: 'container'; id: string };
  hostname?: string;
  /** What follows the host name in the container's own hosts file. */
  domainname?: string;
  extraHosts?: string[];
  /** In the place of the host's; a list that is empty is the engine's to fill. */
  resolver?: { nameservers: string[]; searches: string[]; options: string[] };
  /** Settings of the namespaces that this container holds. */
  sysctls?: Record<string, string>;
  cpuShares?: number;
  /** CPU limit in millicores. */
  cpuLimitMilli?: number;
  memoryLimitBytes?: number;
  /** Processes and threads it may have; absent = as many as the engine allows. */
  pidsLimit?: number;
  /** -1000 to 1000: the higher, the sooner the kernel ends it when memory is short. */
  oomScoreAdj?: number;
  privileged: boolean;
  user?: string;
  /** Numbers of groups that its processes have beside their own and the image's. */
  groups?: string[];
  readOnlyRootFilesystem: boolean;
  capabilitiesAdd: string[];
  capabilitiesDrop: string[];
  noNewPrivileges: boolean;
  /** Absent = the engine's own filter. */
  seccomp?: SeccompChoice;
  /** A profile loaded on the host, or `unconfined`; absent = the engine's own. */
  appArmorProfile?: string;
  tty: boolean;
  stdin: boolean;
  /** The input ends with the first client that leaves; Podman does so in any case. */
  stdinOnce?: boolean;
  /** Signal and grace are given at stop. Engine-side restart policy is always "no": the agent restarts. */
}

export type EngineState = 'created' | 'running' | 'exited';

/** A container of ours as the engine reports it. Times are ms since the epoch by the host's clock; absent = never. */
export interface ObservedContainer {
  id: string;
  identity: ContainerIdentity;
  state: EngineState;
  /** As asked for at create. */
  image: string;
  /** Digest form when the engine knows one, else its image id. */
  imageID: string;
  createdAt: number;
  startedAt?: number;
  finishedAt?: number;
  exitCode?: number;
  oomKilled: boolean;
  /** The engine's own words when it could not start the container. */
  error?: string;
  /** Address in the bridge network; absent for host network and for members of a sandbox. */
  ip?: string;
  /** What the agent put on at create (spec hash, grace …). */
  labels: Record<string, string>;
  /** What a hollow container says of itself in the place of a probe. Absent on real engines: there, running is ready. */
  ready?: boolean;
  /** A hollow host was told that this Pod has ended for good: its phase from now on, whatever its containers do. */
  podPhase?: 'Failed' | 'Succeeded';
}

/** Whose containers a driver sees; two owners on one engine never see each other's. */
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
  /** Changes when the engine restarted with other data. */
  id: string;
  /** It enforces AppArmor profiles. */
  appArmor: boolean;
  /** It filters system calls. */
  seccomp: boolean;
  /** It runs as an ordinary user of the host. */
  rootless: boolean;
  /** The network of Pods that do not share the host's, and its device where the engine keeps one; absent = not told. */
  podNetwork?: { exists: boolean; device?: string };
  /** Where it keeps images, on its own host; absent when it does not tell. */
  rootDir?: string;
}

/** Something happened to a container of ours: look at it again. `resync`: events may be lost, look at all. */
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

/** A piece of what a process printed. With a terminal all of it is `stdout`. */
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
  /** Program and arguments: no shell is put in between. */
  command: readonly string[];
  /** Whether it gets an input to read; without, its input is empty. */
  stdin: boolean;
  tty: boolean;
}

export interface AttachRequest {
  /** Has an effect only where the container was created with `stdin`. */
  stdin: boolean;
}

/** The streams of a process in a container. What is not read makes the process wait. */
export interface AttachedStreams {
  /** In the order that the engine tells, until the last byte. For one reader; leaving it early closes the streams. */
  readonly output: AsyncIterable<OutputChunk>;
  /** Resolves when there is room for more. Without effect on a process that has ended or was given no input. */
  write(bytes: Uint8Array): Promise<void>;
  /** The process reads the end of its input. */
  endInput(): void;
  /** Without effect where there is no terminal. */
  resize(size: TerminalSize): Promise<void>;
  /** Lets go of the streams at once; the process goes on, save that one with a terminal may get SIGHUP. */
  close(): void;
}

/** A process that `exec` started. */
export interface ExecProcess extends AttachedStreams {
  /** Resolves when the process has ended: to be asked once its output has been read to the end. 126 and 127: it could not be started. */
  exitCode(): Promise<number>;
  /**
   * Sends a signal to the process alone, as a kubelet's engine does at a deadline. False where the agent may not or
   * cannot: engines have no call for it, so it is done through the kernel, as root on the engine's own host.
   */
  kill(signal?: 'SIGKILL' | 'SIGHUP'): Promise<boolean>;
}

/** Counted by the kernel, told by the engine. */
export interface ContainerUsage {
  id: string;
  podUid: string;
  /** Container name in the Pod. */
  container: string;
  /** Processor time since its start. */
  cpuNanos: number;
  /** Working set: without the pages of files that nobody has touched lately. */
  memoryBytes: number;
  /** Processes and threads; absent where the engine does not count them. */
  processes?: number;
}

/** What a container takes on the disk, in bytes. */
export interface ContainerStorage {
  /** Its name in the Pod. */
  container: string;
  attempt: number;
  isRunning: boolean;
  /** What it wrote over its image. */
  layerBytes: number;
  /** Its log, rotated files included; 0 where the agent may not look. */
  logBytes: number;
}

/** An image that the engine has. */
export interface EngineImage {
  id: string;
  /** As its maker set it, such as `1000`, `app:app`; empty = root. */
  user: string;
  /** Of all its layers, shared ones included. */
  sizeBytes: number;
}

export interface PullRequest {
  image: string;
  /** Base64 engine auth header, absent = anonymous. */
  auth?: string;
  signal: AbortSignal;
  /** Called whenever the engine says that something has come. */
  onProgress?: () => void;
}

/** A refusal or failure of the engine. `temporary`: the same call may work later without anyone's doing. */
export class RuntimeError extends Error {
  constructor(
    /** Kubernetes' reason where there is one: ErrImagePull, ErrImageNeverPull, InvalidImageName, CreateContainerError, RunContainerError; else EngineDown, Conflict, NotFound, NotRunning, ConnectFailed. */
    readonly reason: string,
    message: string,
    readonly temporary: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'RuntimeError';
  }
}

/** All calls throw `RuntimeError`. All are idempotent where the words allow it: stopping the stopped, removing the absent. */
export interface RuntimeDriver {
  info(): Promise<EngineInfo>;
  list(): Promise<ObservedContainer[]>;
  /** Ours of one Pod. */
  inspectPod(podUid: string): Promise<ObservedContainer[]>;
  /** Events from now on, without end, until aborted. Begins with `resync`, and says it again after each reconnect. */
  events(signal: AbortSignal): AsyncIterable<RuntimeEvent>;
  /** Of one Pod's containers, the sandbox apart. It is work for the engine: not to be asked for often. */
  storage(podUid: string): Promise<ContainerStorage[]>;
  /** Undefined when the engine does not have it. */
  findImage(image: string): Promise<EngineImage | undefined>;
  pull(request: PullRequest): Promise<void>;
  /** Gives an image that is there another name. */
  tag(image: string, name: string): Promise<void>;
  /** Ids of the images that containers were made of, anybody's. */
  imagesInUse(): Promise<ReadonlySet<string>>;
  /** Takes this name away, and with its last name the image. Throws for one in use. */
  removeImage(image: string): Promise<void>;
  /** Makes sure that the sandbox image is there; answers its name. Asks no registry. */
  ensureSandboxImage(): Promise<string>;
  /** Throws reason `Conflict` when this identity exists already. `onWarning` hears what the host cannot give. Answers the id. */
  create(config: ContainerConfig, onWarning?: (text: string) => void): Promise<string>;
  start(id: string): Promise<void>;
  /** SIGTERM (or the image's stop signal), then SIGKILL after the grace. Resolves when it has ended. */
  stop(id: string, graceSeconds: number): Promise<void>;
  /** Removes with its anonymous volumes; kills when running. */
  remove(id: string): Promise<void>;
  /** Bytes of stdout and stderr in order, without engine framing. */
  logs(id: string, request: LogRequest, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Starts a process in a running container. Throws `NotRunning`. The streams close when `signal` aborts. */
  exec(id: string, request: ExecRequest, signal: AbortSignal): Promise<ExecProcess>;
  /** The streams of a running container's first process, from now on. Throws `NotRunning`. */
  attach(id: string, request: AttachRequest, signal: AbortSignal): Promise<AttachedStreams>;
  /** A connection to a port on the loopback of a running container's network. Throws `ConnectFailed`, `NotRunning`. */
  dial(id: string, port: number, signal: AbortSignal): Promise<Duplex>;
  /** What each of our running containers, sandboxes apart, has used and uses. */
  usage(): Promise<ContainerUsage[]>;
  close(): void;
}
