/**
 * The interfaces that the API needs from the rest of the coordinator: the hub, the controllers' views, the metrics and the
 * restore state implement them. They keep the API free of imports of those rooms.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { FleetAvailability } from '../../shared/kube/fleet/availability-types.js';
import type { ChangeCalendar } from '../../shared/kube/fleet/change-calendar-types.js';
import type { Coordinator } from '../../shared/kube/fleet/coordinator-types.js';
import type {
  DaemonJobHosts,
  DaemonJobPreview,
  JobHostState,
  JobsOfHost,
} from '../../shared/kube/fleet/daemonjob-host-types.js';
import type {
  HostsByValue,
  ValueCounts,
  ValuesOfHost,
} from '../../shared/kube/fleet/effective-values-types.js';
import type { HostEffect, HostEffectRequest } from '../../shared/kube/fleet/host-effect-types.js';
import type { HostMeters } from '../../shared/kube/fleet/host-meter-types.js';
import type { HostReadings } from '../../shared/kube/fleet/host-reading-types.js';
import type { Host } from '../../shared/kube/fleet/host-types.js';
import type { DaemonSetPlan, Plan, PlanRequest } from '../../shared/kube/fleet/plan-types.js';
import type { ServiceReasonsDocument } from '../../shared/kube/fleet/service-explanation-types.js';
import type { KubeObject, ObjectRef } from '../../shared/kube/objects/meta.js';
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import type {
  JoinResponse,
  LogStreamRequest,
  StreamRequest,
} from '../../shared/link/messages/link-messages.js';
import type { ReadRights } from './auth/read-rights.js';
import type { LoggedRequest } from './http/request-log.js';

/** A host's POST for a certificate. */
export interface JoinCall {
  /** The whole `Authorization` header. */
  authorization?: string;
  /** Decoded JSON, not validated. */
  body: unknown;
  remoteAddress?: string;
}

/** `waiting`: an operator must approve the CertificateSigningRequest `request`. */
export type JoinOutcome =
  | { state: 'joined'; answer: JoinResponse }
  | { state: 'waiting'; request: string; message: string };

/** A rejected link. */
export interface LinkRefusal {
  remoteAddress: string;
  /** Present if the host had proved its identity. */
  node?: string;
  /** HTTP status code, or the nearest one if the refusal was no HTTP response. */
  code: number;
  reason: string;
}

/** Joining hosts and agents' links. */
export interface AgentLink {
  /** Issues a certificate for a join token. Throws ApiError: 400, 401 wrong token, 403 refused, 409 name taken. */
  join(call: JoinCall): Promise<JoinOutcome>;
  /** Issues a certificate to a host that has joined before. Throws ApiError: 400, 401, 403 refused. */
  certify(call: JoinCall): Promise<JoinOutcome>;
  /** Takes over the socket of a WebSocket upgrade at LINK_PATH. Calls `onRefused` if the link is rejected, now or later. */
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    onRefused?: (refusal: LinkRefusal) => void,
  ): void;
}

/** Byte streams to hosts. Both methods throw ApiError if the host is not connected or refuses. */
export interface PodStreams {
  /** The iterable ends with the log or when `signal` aborts. Its consumer sets the pace. */
  logs(nodeName: string, request: LogStreamRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Resolves when the host has opened the stream. The host sets the pace of `input`, which is closed with the stream. */
  open(
    nodeName: string,
    request: StreamRequest,
    input: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>;
}

/** The result of one placement rule on one node. */
interface ExplainedRule {
  /** `NodeName`, `NodeSelector`, `NodeAffinity`, `Taints`, in this order. */
  rule: string;
  passed: boolean;
  /** The compared values as text. */
  detail: string;
}

/** Why a DaemonSet does or does not run on one node. */
export interface ExplainedNode {
  /** One of REASON_CODES (`decisions/reasons/reason-code.ts`); stable. */
  code: string;
  /** For people; the wording may change. */
  sentence: string;
  /** Name of the Pod that the code describes, if there is one. */
  pod?: string;
  /** [] if the Node does not exist. */
  rules: readonly ExplainedRule[];
  /** Values of the host that its Pod is made with. `from`: the object that each comes from. */
  values?: readonly { path: string; value: string; from: string }[];
  failedCreate?: FailedCreate;
  /** State in the rollout by waves; absent if no policy governs the DaemonSet. */
  rollout?: { code: string; wave: string };
}

/** Reasons over the fleet. Each node has exactly one code, so the counts add up to `total`. */
export interface ExplainedFleet {
  sentence: string;
  /** Existing nodes, and deleted nodes that a Pod of the DaemonSet still names. */
  total: number;
  /** In the order of REASON_CODES, without codes that no node has. Node names are sorted. */
  reasons: readonly { code: string; count: number; nodes: readonly string[] }[];
  /** The nodes with a Pod of each revision, most frequent first. */
  versions: readonly {
    revision: string;
    images: readonly string[];
    count: number;
    nodes: readonly string[];
  }[];
  failedCreate?: FailedCreate;
}

/** Pod creations that the API has refused since the last successful one. */
interface FailedCreate {
  /** The API's message for the last refused creation. */
  message: string;
  count: number;
  firstTime: string;
  lastTime: string;
}

interface RolloutHostsQuery {
  /** [] selects all codes. */
  codes: readonly string[];
  wave?: string;
  /** Selects node names greater than this one. */
  after?: string;
  limit: number;
}

interface RolloutHost {
  node: string;
  /** One of ROLLOUT_CODES (`decisions/rollouts/host-rollout-code.ts`). */
  code: string;
  /** "" for a host that is not eligible. */
  wave: string;
  /** For people. */
  sentence: string;
}

/** One page of hosts, sorted by name. */
export interface RolloutHostList {
  /** Number of selected hosts on all pages. */
  total: number;
  hosts: readonly RolloutHost[];
  /** The last name of this page; absent on the last page. */
  continue?: string;
}

export interface Explainer {
  /** Throws ApiError 404 for an unknown DaemonSet or node. */
  explainNode(daemonSet: ObjectRef, node: string): ExplainedNode;
  /** Throws ApiError 404 for an unknown DaemonSet. */
  explainFleet(daemonSet: ObjectRef): Promise<ExplainedFleet>;
  /** Throws ApiError 404 for a DaemonSet that no policy governs, or whose rollout has not been reconciled yet. */
  rolloutHosts(daemonSet: ObjectRef, query: RolloutHostsQuery): Promise<RolloutHostList>;
}

export interface ServiceExplainer {
  /** Throws ApiError 404 for an unknown Service. */
  explainService(service: ObjectRef): Promise<ServiceReasonsDocument>;
}

interface JobHostsQuery {
  /** [] selects all states. */
  states: readonly JobHostState[];
  /** Selects the hosts after this one, by state and name. */
  after?: { state: JobHostState; node: string };
  limit: number;
  /** Selects this host alone. */
  node?: string;
  /** Adds the names of all hosts to the states. */
  withNames: boolean;
}

export interface DaemonJobHostSource {
  /** Throws ApiError 404 for an unknown DaemonJob. */
  hostsOf(job: ObjectRef, query: JobHostsQuery): Promise<DaemonJobHosts>;
  /** `isVisible`: the caller may read the job. */
  jobsOn(node: string, isVisible: (job: DaemonJob) => boolean): JobsOfHost;
  /** The job has its defaults and need not be stored. */
  preview(job: DaemonJob): Promise<DaemonJobPreview>;
}

/** `namespace`: undefined for all namespaces. */
export interface EffectiveValueSource {
  /** Throws ApiError 404 for an unknown Node. */
  ofHost(namespace: string | undefined, node: string): ValuesOfHost;
  byValue(namespace: string | undefined, key: string, value?: string): Promise<HostsByValue>;
  counts(namespace: string | undefined): Promise<ValueCounts>;
}

/** The write of a RolloutPolicy. */
export interface PolicyWrite {
  /** Undefined for a creation. */
  before: RolloutPolicy | undefined;
  /** Undefined for a deletion. */
  after: RolloutPolicy | undefined;
  /** False if the user may not list Nodes: warnings then contain counts instead of names. */
  mayNameNodes: boolean;
}

/** Dry runs of manifests. */
export interface ChangePlanner {
  /** The plan lists rejected manifests and contains no object that the caller may not read. */
  planManifests(request: PlanRequest, rights: ReadRights): Promise<Plan>;
  /** `before` is the stored DaemonSet, `after` the result of a dry run. */
  planDaemonSet(after: DaemonSet, before: DaemonSet | undefined): Promise<DaemonSetPlan>;
  /** Returns the warnings for the user, one line each. */
  warningsFor(write: PolicyWrite): Promise<string[]>;
}

export interface HostEffectPlanner {
  effectOf(request: HostEffectRequest): Promise<HostEffect>;
}

export interface ChangeCalendarSource {
  /** Throws ApiError 404 for an unknown policy. */
  calendarOf(policy: ObjectRef, days: number): Promise<ChangeCalendar>;
}

/** One computed object as JSON text; `undefined` if it was deleted. */
export interface ObjectText {
  name: string;
  json: string | undefined;
}

/** A Host, and whether it needs an operator. False if it was deleted. */
export interface HostText extends ObjectText {
  isTroubled: boolean;
}

export interface HostFeed {
  list(): Promise<readonly Host[]>;
  get(name: string): Promise<Host | undefined>;
  /** Resolves with all hosts, then reports each change until `leave` is called. */
  watch(onChange: (changed: readonly HostText[]) => void): Promise<{ first: HostText[]; leave: () => void }>;
}

/** Several coordinators on etcd. A single coordinator has no source. */
export interface CoordinatorSource {
  /** Returns all coordinators of the fleet, by name, within 3 s. Throws ApiError 503 while they are not known. */
  list(): Promise<readonly Coordinator[]>;
}

/** Whether this coordinator can prove that no other one leads. A single coordinator needs no proof. */
export interface LeadershipProof {
  readonly state: 'proven' | 'unproven' | 'lost';
}

export interface HostMeterSource {
  /** Returns undefined for a host that has not connected since the coordinator started. */
  of(name: string): HostMeters | undefined;
}

export interface HostReadingSource {
  /** Returns empty columns for a host without readings. */
  of(name: string): Omit<HostReadings, keyof KubeObject>;
}

/** How long hosts were Ready. */
export interface AvailabilitySource {
  /** `by`: a label whose values divide the hosts into groups. */
  fleet(by: string | undefined): Promise<Omit<FleetAvailability, 'kind' | 'apiVersion'>>;
}

/** The address and keys that a join command contains. */
export interface JoinFacts {
  /** `https://HOST:PORT` as other hosts reach it. */
  server: string;
  /** PEM of the authority that new hosts pin. */
  authority: string;
  /** PEM of the serving certificate. */
  serving: string;
  /** True if an agent can be downloaded. */
  hasRelease: boolean;
  /** True if an operator must approve each new host. */
  approval: boolean;
}

/** Like in Kubernetes, a user needs a rule for `nonResourceURLs` to read it. */
export const METRICS_PATH = '/metrics';

/** Metrics of each single agent. */
export const AGENTS_METRICS_PATH = '/metrics/agents';

export interface MetricsPage {
  /** Content type of both pages. */
  readonly contentType: string;
  /** Returns the page at METRICS_PATH in Prometheus' text format. */
  text(): Promise<string>;
  /** Returns the page at AGENTS_METRICS_PATH. */
  agentsText(): string;
  /** Counts a request that was answered or that its client abandoned. */
  observe(request: LoggedRequest): void;
}

/** A complete backup, ready to be sent. */
export interface BackupDownload {
  /** File name with the time, such as `manual-2026-01-31T03-17-00Z.tar.gz`. */
  name: string;
  sizeBytes: number;
  /** Last revision of the log in the backup. */
  revision: number;
  /** Must be read to its end or closed: until then the backup uses space on the disk. */
  content: AsyncIterable<Uint8Array>;
}

export interface BackupSource {
  /** Takes a backup. Throws ApiError: 409 while another one is taken, 503 if the disk cannot hold it. */
  take(): Promise<BackupDownload>;
}

export interface RestoreControl {
  /** Returns the restore that an operator must confirm, if there is one. */
  unconfirmed(): UnconfirmedRestore | undefined;
  /** Resolves when the confirmation is durable. Controllers start then. */
  confirm(): Promise<void>;
}

export interface UnconfirmedRestore {
  /** Time of the backup, ms since the epoch. */
  takenAt: number;
}
