/** What the link needs of the rest of the agent, and what the rest of the agent may hand to the link. */
import type { NodeStatus, Taint } from '../../shared/kube/nodes/node-types.js';
import type {
  DesiredObject,
  HandedOverPod,
  MirrorPod,
  ObjectDigest,
  PodReport,
  RemovedPod,
  ReportedEvent,
  ReturnedObject,
  StreamRequest,
  Welcome,
} from '../../shared/link/messages/link-messages.js';

/** Where this host stopped: the fleet it belongs to and everything it holds, in its cache or only in its engine. */
interface ResumePoint {
  /** Absent on a host that was never welcomed. A coordinator with another one is refused. */
  clusterUID?: string;
  epoch?: string;
  /** Of the last difference applied; 0 = none. */
  revision: number;
  objects: ObjectDigest[];
}

/** A difference to make true on disk: objects to hold (new or changed), uids to stop and drop. */
export interface DesiredChange {
  set: DesiredObject[];
  unassigned: string[];
  revision: number;
  clusterUID: string;
  epoch: string;
}

/** The rest of the agent, as the link sees it. Built in `main.ts`; every call is made from the event loop, none twice at once. */
export interface LinkDelegate {
  /** Asked at each connect. */
  resumePoint(): ResumePoint;
  /** Labels and taints for a Node that does not exist yet. */
  registration(): { labels: Record<string, string>; taints: Taint[] };
  /** Present status of the Node; also handed to `outbox.putNode` whenever it changes. */
  nodeStatus(): NodeStatus;
  /**
   * Resolves when the change is on disk (then `applied` is sent); stopping and starting go on in their own time.
   * A rejection ends the connection: the same difference comes again after the next connect.
   */
  apply(change: DesiredChange): Promise<void>;
  /** The images to have before Pods ask for them: the whole list. */
  prefetchImages(images: readonly string[]): void;
  /** What was given under this uid, for a coordinator that has lost it. */
  returnObject(uid: string): ReturnedObject;
  /**
   * Opens a stream for a reader: resolving tells the reader that it has begun, a `StreamError` refuses it.
   * The link takes from it only what the reader has room for, and grants the reader as much as is taken of `input`.
   * `signal` aborts when the reader left or the link broke; `input` ends then.
   */
  openStream(
    request: StreamRequest,
    input: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** A hello was accepted: the link carries reports until `onLost`. */
  onLive(welcome: Welcome): void;
  /** The coordinator's clock was set while the link stands: from now on it shows this, ms since the epoch. */
  onCoordinatorTime(serverTimeMs: number): void;
  /** The coordinator has committed what was said of these turns, by uid of the successor. */
  onHandoversAcknowledged(uids: readonly string[]): void;
  /** All uids that this host holds, whether the hub knows of them or not. */
  assignedUids(): string[];
  /** A link broke, or could not be made: for this reason. It is tried again, unless `onEnded` follows. */
  onFailed(reason: string): void;
  /** The link broke; it reconnects by itself. */
  onLost(reason: string): void;
  /** The link will not come back while this process lives: `superseded`, `refused` or `nodeDeleted` in words. */
  onEnded(reason: string): void;
}

/** Reports on their way to the coordinator. Nothing here blocks or fails: what is newest wins and is sent when it can be. */
export interface Reports {
  /** The Pod's status now; replaces what was not sent yet. Times by the host's steady clock. */
  putPod(report: PodReport): void;
  /** The Pod is fully stopped, whether it was deleted or just `gone`. Repeated until acknowledged, or until a status says that it is back. */
  putRemoved(pod: RemovedPod): void;
  putNode(status: NodeStatus): void;
  /** A Pod has taken another's place by a turn. Repeated until acknowledged. */
  putHandover(turned: HandedOverPod): void;
  /** All static Pods of the host, from now on. */
  putMirrors(mirrors: MirrorPod[]): void;
  /** Uids of Pods that only the engine knows; those that the hello named already may be among them. */
  putUnknownUids(uids: readonly string[]): void;
  /** Best effort, oldest dropped when too many wait; equal ones (object, reason, message) are counted together. */
  putEvent(event: ReportedEvent): void;
}
