/**
 * Every message of the agent link and every limit: the protocol's only definition.
 * WebSocket over TLS at `/link`, subprotocol `everynode.v1`, one msgpack map a binary frame.
 * The host's steady clock is its wall clock when the agent started plus monotonic time since: it never jumps.
 * Within a version unknown fields are ignored; new message kinds are sent only after both ends named the feature.
 */
import type { KubeEvent } from '../kube/event.js';
import type { Node, NodeStatus, Taint } from '../kube/node.js';
import type { PodStatus } from '../kube/pod.js';

export const SUBPROTOCOL = 'everynode.v1';
export const LINK_PATH = '/link';
/** POST here with a join token to obtain a node's credential. */
export const JOIN_PATH = '/join';

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
  /** Labels and taints for a Node that does not exist yet. */
  register: { labels: Record<string, string>; taints: Taint[] };
  status: NodeStatus;
  /** The host's steady clock now, ms: the hub measures its offset to the hub's own time. */
  hostTimeMs: number;
}

/** One object that the node is to hold. `object` is its JSON (no status, managedFields, resourceVersion). */
export interface DesiredObject {
  uid: string;
  digest: string;
  /** UTF-8 JSON bytes. Encoded once, whoever receives them. */
  object: Uint8Array;
}

export interface Desired {
  kind: 'desired';
  id: number;
  revision: number;
  set: DesiredObject[];
  /** Objects to stop and drop. */
  gone: string[];
  /** More parts of the same difference follow. */
  more: boolean;
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

export interface StatusReport {
  kind: 'status';
  id: number;
  /** The first report of a session names every Pod; later ones only what changed. */
  complete: boolean;
  hostTimeMs: number;
  node?: NodeStatus;
  pods: PodReport[];
  /** Uids of Pods that are fully stopped and may leave the store. */
  removed: { uid: string; namespace: string; name: string }[];
}

export interface StatusAck {
  kind: 'statusAck';
  /** Committed to the store. */
  id: number;
}

export interface EventsReport {
  kind: 'events';
  items: Pick<
    KubeEvent,
    'involvedObject' | 'reason' | 'message' | 'type' | 'count' | 'firstTimestamp' | 'lastTimestamp'
  >[];
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
  /** Do not come back sooner; absent = do not come back. */
  retryMs?: number;
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

export type StreamRequest = LogStreamRequest;

export interface StreamOpen {
  kind: 'streamOpen';
  stream: number;
  request: StreamRequest;
}

export interface StreamData {
  kind: 'streamData';
  stream: number;
  bytes: Uint8Array;
}

export interface StreamCredit {
  kind: 'streamCredit';
  stream: number;
  bytes: number;
}

/** Ends a stream; `error` is present when it failed, `started: false` when it never began. */
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
  | StreamData
  | StreamCredit
  | StreamClose;

export type FromHub =
  | Welcome
  | Desired
  | StatusAck
  | Goodbye
  | StreamOpen
  | StreamData
  | StreamCredit
  | StreamClose;

/** POST body of a join. The answer is a `JoinAnswer`; a taken name is 409, a wrong token 401. */
export interface JoinRequest {
  node: string;
}

export interface JoinAnswer {
  node: string;
  /** Bearer credential of this node; stored by the agent in a root-only file. */
  credential: string;
  clusterUID: string;
}
