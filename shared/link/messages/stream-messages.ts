/** Streams: logs, commands, ports and usage of a host, for a reader at the API. */

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

/** Whose process a reader wants to talk to. */
interface ProcessStreamRequest {
  podUid: string;
  container: string;
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** Feature `channels`: runs a command. Both directions carry frames (`channel.ts`), the last from the host is a Status. */
export interface ExecStreamRequest extends ProcessStreamRequest {
  type: 'exec';
  command: string[];
}

/** Feature `channels`: the streams of the container's first process, in frames as well. */
export interface AttachStreamRequest extends ProcessStreamRequest {
  type: 'attach';
}

/** Feature `channels`: one connection to a port of the Pod. Frames on `stdin` go there, frames on `stdout` come from there. */
export interface PortStreamRequest {
  type: 'port';
  podUid: string;
  port: number;
}

/** Feature `channels`: a `HostUsage` in JSON. */
export interface UsageStreamRequest {
  type: 'usage';
}

export type StreamRequest =
  | LogStreamRequest
  | ExecStreamRequest
  | AttachStreamRequest
  | PortStreamRequest
  | UsageStreamRequest;

/** What a host uses: averages over the window that ends at `timeMs`, by the host's wall clock. */
export interface HostUsage {
  node: ResourceUse;
  pods: { uid: string; containers: ({ name: string } & ResourceUse)[] }[];
}

export interface ResourceUse {
  timeMs: number;
  windowMs: number;
  /** Millionths of a core. */
  cpuMicro: number;
  /** Working set: what cannot be freed at once. */
  memoryBytes: number;
}

export interface StreamOpen {
  kind: 'streamOpen';
  stream: number;
  request: StreamRequest;
}

/** Towards the reader; with feature `channels` also towards the host. */
export interface StreamData {
  kind: 'streamData';
  stream: number;
  bytes: Uint8Array;
}

/** Feature `channels`: so many bytes of streams have arrived, whoever reads them and when (`stream-pace.ts`). */
export interface StreamArrived {
  kind: 'streamArrived';
  bytes: number;
}

/** The receiver of a stream has room for so many bytes more. */
export interface StreamCredit {
  kind: 'streamCredit';
  stream: number;
  bytes: number;
}

/** The stream has begun: its reader may be answered although no byte has come yet. */
export interface StreamStarted {
  kind: 'streamStarted';
  stream: number;
}

/** Ends a stream, from either side. Without `error` it came to its end; with one before `streamStarted` it was refused. */
export interface StreamClose {
  kind: 'streamClose';
  stream: number;
  error?: { reason: string; message: string };
}
