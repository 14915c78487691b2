/**
 * Every message of the agent link and every limit: the protocol's only definition.
 * WebSocket over TLS at `/link`, subprotocol `everynode.v1`, one msgpack map a binary frame.
 * The host's steady clock is its wall clock when the agent started plus monotonic time since: it never jumps.
 * Within a version unknown fields are ignored; new message kinds are sent only after both ends named the feature.
 */
import type { ObjectReference } from '../kube/event.js';
import type { Timestamp } from '../kube/meta.js';
import type { Node, NodeStatus, Taint } from '../kube/node.js';
import type { PodStatus } from '../kube/pod.js';

export const SUBPROTOCOL = 'everynode.v1';
export const LINK_PATH = '/link';
/** POST here with a join token to obtain a node's credential. */
export const JOIN_PATH = '/join';
/** Request header of a link that carries the `seal` of the node's join. */
export const JOIN_SEAL_HEADER = 'everynode-join-seal';

export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
export const STREAM_CHUNK_BYTES = 16 * 1024;
/** Credit that a stream's reader grants at once, in bytes. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
export const BEAT_INTERVAL_MS = 10_000;
/** Silence after which a peer counts as gone. */
export const SILENCE_MS = 15_000;

/** What an agent holds of one object: its uid, and the digest of the bytes given, "" when only the engine has it. */
export type Held = [uid: string, digest: string];

export interface Hello {
  kind: 'hello';
  node: string;
  bootID: string;
  /** Random, one an agent process: tells a reconnect from a clone. */
  instanceID: string;
  agentVersion: string;
  features: string[];
  /** Absent before the first welcome. */
  clusterUID?: string;
  era?: string;
  /** Revision of the last `desired` applied; 0 = none. */
  revision: number;
  have: Held[];
  /** Uid of the Node that this agent process was welcomed as; absent before its first welcome. */
  nodeUid?: string;
  /** Labels and taints for a Node that does not exist yet. */
  register: { labels: Record<string, string>; taints: Taint[] };
  status: NodeStatus;
  /** The host's steady clock now, ms: the hub measures its offset to the hub's own time. */
  hostTimeMs: number;
}

/** The hub's word that it gave these bytes to this node. Agents keep it and understand nothing of it. */
export interface Seal {
  /** Era and revision at which the object was given. */
  era: string;
  revision: number;
  /** Keyed hash over node, era, revision, uid and bytes, base64url. */
  mac: string;
}

/** One object that the node is to hold. `object` is its JSON (no status, managedFields, resourceVersion). */
export interface DesiredObject {
  uid: string;
  digest: string;
  /** Absent: a Pod. Others only with feature `configObjects`, and before the Pods that name them. */
  kind?: 'ConfigMap' | 'Secret';
  /** UTF-8 JSON bytes. Encoded once, whoever receives them. */
  object: Uint8Array;
  /** Kept with the object, for a day when the store has lost it. */
  seal?: Seal;
}

/** A difference, whole by itself: a large one comes as several, each sent when the one before was applied. */
export interface Desired {
  kind: 'desired';
  id: number;
  revision: number;
  set: DesiredObject[];
  /** Uids of objects to stop and drop. */
  gone: string[];
}

/** Feature `giveBack`: after a restore, uids that the host holds and the store has lost. */
export interface Ask {
  kind: 'ask';
  uids: string[];
}

/**
 * Feature `holdImages`: the images that the node is to have before any Pod asks for them, as Pods name them. The whole
 * list each time; the agent pulls what it lacks and removes none of them. Nothing is answered.
 */
export interface HoldImages {
  kind: 'holdImages';
  images: string[];
}

/** Answers an `ask` for one uid: the bytes as they were given, with their seal; without, the host has none. */
export interface ReturnedObject {
  uid: string;
  object?: Uint8Array;
  seal?: Seal;
}

export interface Applied {
  kind: 'applied';
  /** The `desired` that is now on disk. */
  id: number;
}

/** Timestamps in it are by the host's steady clock; the hub shifts them into its own time (`hub/host-time.ts`). */
export interface PodReport {
  uid: string;
  namespace: string;
  name: string;
  status: PodStatus;
}

/** Names a Pod that is fully stopped and may leave the store. */
export interface RemovedPod {
  uid: string;
  namespace: string;
  name: string;
}

/** A static Pod of the host, to be shown in the API by a mirror that the hub makes under a uid of its own. */
export interface MirrorPod {
  /** What the host calls it: reports, Events and streams of the Pod go by this uid on the link. */
  uid: string;
  /** UTF-8 JSON bytes. */
  object: Uint8Array;
}

/** A session's first reports name every Pod and the Node; later ones only what changed. */
export interface StatusReport {
  kind: 'status';
  id: number;
  hostTimeMs: number;
  node?: NodeStatus;
  pods: PodReport[];
  removed: RemovedPod[];
  /** Only what was asked for in this session. */
  returned?: ReturnedObject[];
  /** All static Pods of the host; absent when they are what was said last in this session. */
  mirrors?: MirrorPod[];
}

export interface StatusAck {
  kind: 'statusAck';
  /** Committed to the store. */
  id: number;
}

/**
 * An Event as an agent tells it: on its own Node or on a Pod bound to it. `count` is how often since the last report;
 * the hub's recorder takes a report for one occurrence, at the time it came.
 */
export interface ReportedEvent {
  involvedObject: ObjectReference;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  count: number;
  firstTimestamp: Timestamp;
  lastTimestamp: Timestamp;
}

/** Not acknowledged: what a broken link swallows of these is lost. */
export interface EventsReport {
  kind: 'events';
  items: ReportedEvent[];
}

export interface Welcome {
  kind: 'welcome';
  features: string[];
  clusterUID: string;
  era: string;
  beatIntervalMs: number;
  /** The first reconnect is spread over so long. */
  reconnectSpreadMs: number;
  serverTimeMs: number;
  /** The Node as stored, for field refs and cordon. */
  node: Pick<Node, 'metadata'>;
}

export type GoodbyeReason = 'superseded' | 'duplicate' | 'draining' | 'refused' | 'nodeDeleted';

export interface Goodbye {
  kind: 'goodbye';
  reason: GoodbyeReason;
  message: string;
  /** Do not come back sooner; absent = do not come back while this process lives. */
  retryMs?: number;
  /** With `nodeDeleted`: whose Node it was. An agent of that fleet drops its Pods; any other ignores the word. */
  clusterUID?: string;
}

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

export type FromAgent =
  | Hello
  | Applied
  | StatusReport
  | EventsReport
  | StreamStarted
  | StreamData
  | StreamArrived
  | StreamCredit
  | StreamClose;

export type FromHub =
  | Welcome
  | Desired
  | Ask
  | HoldImages
  | StatusAck
  | Goodbye
  | StreamOpen
  | StreamData
  | StreamArrived
  | StreamCredit
  | StreamClose;

/**
 * POST body of a join. A taken name is 409, a wrong token 401.
 * The agent makes its credential and sends only the hash, so a join whose answer was lost can be repeated.
 */
export interface JoinRequest {
  node: string;
  /** SHA-256 of the credential, lower-case hex. */
  credentialHash: string;
}

export interface JoinAnswer {
  node: string;
  clusterUID: string;
  /** The hub's word that it took this credential, to be sent as JOIN_SEAL_HEADER: a store restored from before the join believes it. */
  seal?: string;
}
