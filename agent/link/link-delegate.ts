/** What the link needs from the rest of the agent, and which reports it accepts. */
import type { NodeStatus, Taint } from '../../shared/kube/nodes/node-types.js';
import type {
  CertificateIssued,
  DesiredObject,
  EndpointChanges,
  HandedOverPod,
  MirrorPod,
  ObjectDigest,
  PodReport,
  RemovedPod,
  ReportedEvent,
  RequestServing,
  ReturnedObject,
  ServiceInterest,
  ServiceViews,
  ServingIssued,
  StreamRequest,
  Welcome,
} from '../../shared/link/messages/link-messages.js';

/** The fleet and the last known state of this host, including Pods that only its engine knows. */
interface ResumePoint {
  /** Absent before the first welcome. A coordinator with a different value is refused. */
  clusterUID?: string;
  epoch?: string;
  /** Revision of the last applied change; 0: none. */
  revision: number;
  objects: ObjectDigest[];
}

/** The fleet of the hub at the other end, and the epoch of its change log. */
export interface Fleet {
  clusterUID: string;
  epoch: string;
}

/** A change of the desired state: objects to store (new or changed), and uids to stop and drop. */
export interface DesiredChange extends Fleet {
  set: DesiredObject[];
  unassigned: string[];
  revision: number;
}

/** The hub at the other end of a live link. */
export interface HubContact {
  /** `https://HOST:PORT` of the coordinator; undefined for a simulated network. */
  readonly coordinator: string | undefined;
  /** Returns the time since the last bytes from the hub, ms; Infinity without a connection. */
  silentMs(): number;
  /** Sends a ping at once, so that a reachable hub responds soon. */
  ping(): void;
}

/** The rest of the agent, as the link sees it. All calls come from the event loop and never overlap. */
export interface LinkDelegate {
  /** Called at each connect. */
  resumePoint(): ResumePoint;
  /** Returns labels and taints for a Node that does not exist yet. */
  registration(): { labels: Record<string, string>; taints: Taint[] };
  /** Returns the Node's current status. Changes are also passed to `outbox.putNode`. */
  nodeStatus(): NodeStatus;
  /**
   * Resolves when the change is on disk; then `applied` is sent. Containers start and stop independently. A rejection
   * ends the connection; the hub sends the change again after the next connect.
   */
  apply(change: DesiredChange): Promise<void>;
  /**
   * Stops all Pods because the Node was deleted, also those that the engine lists later. Resolves when this is on disk.
   */
  dropAllPods(fleet: Fleet): Promise<void>;
  /** Replaces the list of images to pull before Pods need them. */
  prefetchImages(images: readonly string[]): void;
  /** Returns the object with this uid, for a coordinator that has lost it. */
  returnObject(uid: string): ReturnedObject;
  /**
   * Opens a stream for a reader. Resolving reports success; a `StreamError` refuses the stream. The link reads only as
   * much as the reader has requested, and grants as much `input` as is consumed. `signal` aborts when the reader has
   * left or the link broke; `input` ends then.
   */
  openStream(
    request: StreamRequest,
    input: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** The hub accepted the hello: the link carries reports until `onLost`. */
  onLive(welcome: Welcome, hub: HubContact): void;
  /**
   * Called when the coordinator's clock was set during a session. `serverTimeMs` is the new time, ms since the epoch.
   */
  onCoordinatorTime(serverTimeMs: number): void;
  /** Called when the coordinator has committed handover reports, with the uids of the successors. */
  onHandoversAcknowledged(uids: readonly string[]): void;
  /**
   * Called when the link broke, or when no address could be connected: the reasons, one for each tried address. The
   * link retries unless `onEnded` follows.
   */
  onFailed(reasons: readonly string[]): void;
  /** Called when a live link broke; it reconnects by itself. */
  onLost(reason: string): void;
  /**
   * Called when the link will not reconnect in this process: `superseded`, `refused` or `nodeDeleted`, with the
   * message.
   */
  onEnded(reason: string): void;
}

/** Reports to the coordinator. No call blocks or fails; newer values replace older ones until they are sent. */
export interface Reports {
  /**
   * Reports the Pod's current status. Times are those of the host's monotonic clock. `isRemovalNear`: the report may wait
   * a moment for `putRemoved`, so that one message has both.
   */
  putPod(report: PodReport, isRemovalNear?: boolean): void;
  /**
   * Reports that the Pod has fully stopped. Repeated until acknowledged, or until a status shows that the Pod is back.
   */
  putRemoved(pod: RemovedPod): void;
  putNode(status: NodeStatus): void;
  /** Reports a handover. Repeated until acknowledged. */
  putHandover(handovers: HandedOverPod): void;
  /** Replaces the list of all static Pods of the host. */
  putMirrors(mirrors: MirrorPod[]): void;
  /** Reports uids of Pods that only the engine knows; the hello may have contained some of them. */
  putUnknownUids(uids: readonly string[]): void;
  /**
   * Reports an Event, best effort: the oldest are dropped, equal ones (object, reason, message) are counted together.
   */
  putEvent(event: ReportedEvent): void;
}

/** Exchanges interest in Services for their views. */
export interface LinkServiceHandler {
  /** Called when the link is live and the hub has the feature. The session has no interest yet. */
  onLive(send: (interest: ServiceInterest) => void): void;
  onLost(): void;
  onViews(views: ServiceViews): void;
  onEndpointChanges(changes: EndpointChanges): void;
}

/** Requests and receives the certificate of the kubelet's port. */
export interface LinkServingHandler {
  /**
   * Called when the link is live and the hub has the feature, and whenever the hub's clock was set. `serverTimeMs` is
   * that clock.
   */
  onLive(serverTimeMs: number, send: (request: Omit<RequestServing, 'kind'>) => void): void;
  onLost(): void;
  onIssued(message: ServingIssued): void;
}

export interface LinkCertificateHandler {
  /**
   * Called when the link is live and whenever the hub's clock was set. `serverTimeMs` is that clock. `request` requests a
   * certificate; undefined if the hub issues none.
   */
  onLive(serverTimeMs: number, request: ((csr: string) => void) | undefined): void;
  onLost(): void;
  /** Called with a new certificate or new authorities from the hub. */
  onCertified(message: CertificateIssued): void;
  /** Called if the hub rejected the host's certificate. `again` reconnects without delay. */
  onRefused(again: () => void): void;
}
