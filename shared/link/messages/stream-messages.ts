/** Streams for logs, commands, ports, resource usage and the kubelet's pages. */

export interface LogStreamRequest {
  type: 'log';
  podUid: string;
  container: string;
  follow: boolean;
  previous: boolean;
  timestamps: boolean;
  tailLines?: number;
  /** RFC 3339. */
  sinceTime?: string;
  sinceSeconds?: number;
  limitBytes?: number;
}

/** Addresses a container's process. */
interface ProcessStreamRequest {
  podUid: string;
  container: string;
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** Feature `channels`: runs a command. Frames in both directions, at last a Status (`streams/stream-channels.ts`). */
export interface ExecStreamRequest extends ProcessStreamRequest {
  type: 'exec';
  command: string[];
}

/** Feature `channels`: attaches to the container's main process, also with frames. */
export interface AttachStreamRequest extends ProcessStreamRequest {
  type: 'attach';
}

/** Feature `channels`: a connection to a port of the Pod, by frames on `stdin` (to it) and `stdout` (from it). */
export interface PortStreamRequest {
  type: 'port';
  podUid: string;
  port: number;
}

/** Feature `channels`: requests a `HostUsage` in JSON. */
export interface UsageStreamRequest {
  type: 'usage';
}

/** Feature `kubelet`: requests a page of the kubelet. The response is described in `encoding/kubelet-answer.ts`. */
export interface KubeletStreamRequest {
  type: 'kubelet';
  /** Decoded, with a leading slash. */
  path: string;
  /** Without `?`. */
  query: string;
  /** The response may be compressed. */
  gzip: boolean;
}

export type StreamRequest =
  | LogStreamRequest
  | ExecStreamRequest
  | AttachStreamRequest
  | PortStreamRequest
  | UsageStreamRequest
  | KubeletStreamRequest;

/** Resource usage of a host: averages over the window that ends at `timeMs`, by the host's wall clock. */
export interface HostUsage {
  node: ResourceUse;
  pods: { uid: string; containers: ({ name: string } & ResourceUse)[] }[];
}

/** CPU and memory in use, measured over the last `windowMs`. */
export interface ResourceUse {
  timeMs: number;
  windowMs: number;
  /** Millionths of a core. */
  cpuMicro: number;
  /** Working set: memory that cannot be freed at once. */
  memoryBytes: number;
}

/** From the hub: opens a stream. The hub chooses the number. */
export interface StreamOpen {
  kind: 'streamOpen';
  stream: number;
  request: StreamRequest;
}

/** From the host to the reader. With feature `channels` in both directions. */
export interface StreamData {
  kind: 'streamData';
  stream: number;
  bytes: Uint8Array;
}

/** Feature `channels`: acknowledges received bytes of all streams (`streams/stream-congestion.ts`). */
export interface StreamArrived {
  kind: 'streamArrived';
  bytes: number;
}

/** Grants the writer of a stream more credit. */
export interface StreamCredit {
  kind: 'streamCredit';
  stream: number;
  bytes: number;
}

/** The stream is open. The hub can now answer the reader's request, even without a first byte. */
export interface StreamStarted {
  kind: 'streamStarted';
  stream: number;
}

/** Ends a stream from either side. An `error` before `streamStarted` means that it was rejected. */
export interface StreamClose {
  kind: 'streamClose';
  stream: number;
  error?: { reason: string; message: string };
}
