/** The context of an API handler: its request, its dependencies, and the responses that it may return. */

import type { Writable } from 'node:stream';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { Identities } from '../../access/identities.js';
import type { Registry } from '../../registry/registry.js';
import type { AuditLog } from '../audit/audit-file.js';
import type { ObjectChange } from '../audit/object-changes.js';
import type { ClusterPort } from '../join/cluster-port.js';
import { type ClientLimitSettings, DEFAULT_CLIENT_LIMITS } from '../limits/client-limits.js';
import { DEFAULT_LARGE_READS, type LargeReadSettings, type LargeReads } from '../limits/large-reads.js';
import type { WatchCoalescer } from '../limits/watch-coalescer.js';
import type {
  AvailabilitySource,
  BackupSource,
  ChangeCalendarSource,
  ChangePlanner,
  CoordinatorSource,
  DaemonJobHostSource,
  EffectiveValueSource,
  Explainer,
  HostEffectPlanner,
  HostFeed,
  HostMeterSource,
  HostReadingSource,
  JoinFacts,
  PodStreams,
  RestoreControl,
  ServiceExplainer,
} from '../ports.js';
import type { ReleaseUploads } from '../releases/release-uploads.js';
import type { BodyPiece } from './paced-writer.js';
import type { ResourceRequest } from './request-info.js';
import type { RequestLogLevel } from './request-log.js';

export interface ApiSettings {
  /** Time without progress after which a slow reader's connection is closed. */
  stallMs: number;
  /** Timeout until a response starts. It does not apply to watches, logs and backups. */
  responseTimeoutMs: number;
  /** Time for open responses to finish after a stop was requested. */
  drainMs: number;
  /** Applied per user and network, and per network for anonymous requests. */
  clientLimits: ClientLimitSettings;
  largeReads: LargeReadSettings;
  requestLog: RequestLogLevel;
  /**
   * Lifetime of a watch without `timeoutSeconds`, up to twice this value. Spread, so that clients do not reconnect all
   * at once.
   */
  watchTimeoutMs: number;
  /** Exec, attach and port-forward connections without traffic are closed after this time. */
  idleStreamMs: number;
}

export const DEFAULT_API_SETTINGS: ApiSettings = {
  stallMs: 30_000,
  responseTimeoutMs: 60_000,
  drainMs: 5_000,
  clientLimits: DEFAULT_CLIENT_LIMITS,
  largeReads: DEFAULT_LARGE_READS,
  requestLog: 'none',
  watchTimeoutMs: 30 * 60_000,
  // Default of the kubelet's `streamingConnectionIdleTimeout`.
  idleStreamMs: 4 * 60 * 60_000,
};

export interface ApiDeps {
  registry: Registry;
  streams: PodStreams;
  explainer: Explainer;
  serviceExplainer: ServiceExplainer;
  jobHosts: DaemonJobHostSource;
  effectiveValues: EffectiveValueSource;
  hosts: HostFeed;
  meters: HostMeterSource;
  readings: HostReadingSource;
  availability: AvailabilitySource;
  planner: ChangePlanner;
  hostEffects: HostEffectPlanner;
  calendars: ChangeCalendarSource;
  joinFacts: () => Promise<JoinFacts>;
  restore: RestoreControl;
  backups: BackupSource;
  releases: ReleaseUploads;
  /** Absent for a single coordinator. */
  cluster?: ClusterPort;
  /** Absent if this is the only coordinator. */
  coordinators?: CoordinatorSource;
  identities: Identities;
  /** Absent if the audit log is off. */
  audit?: AuditLog;
  clock: Clock;
  /** Shared by all long responses. */
  slice: TimeSlice;
  watchCoalescer: WatchCoalescer;
  /** Limits concurrent reads of many objects. */
  largeReads: LargeReads;
  log: Logger;
  settings: ApiSettings;
}

export interface ApiRequest {
  info: ResourceRequest;
  user: UserInfo;
  /** The key under which limits count this request. It names the authenticated user, not the impersonated one. */
  limitKey: string;
  headers: {
    accept?: string;
    contentType?: string;
    userAgent?: string;
    prefer?: string;
    /** The kubectl command that sends the request, e.g. `kubectl rollout status`. */
    kubectlCommand?: string;
  };
  /** The client accepts compressed responses. */
  acceptsGzip: boolean;
  /** Not decoded; absent if the request has no body. */
  body?: Buffer;
  signal: AbortSignal;
  warn: (text: string) => void;
  /** Sets the name of the created object for the request log. */
  onCreated: (name: string) => void;
  /** Adds an annotation to the audit event. */
  annotate: (key: string, value: string) => void;
  /** Marks the request as a dry run in the logs. Called only by handlers that then store nothing. */
  onDryRun: () => void;
  /** Sets the change of the write for the audit event. A later call replaces it. */
  onChange: (change: ObjectChange) => void;
}

export type ApiResponse =
  /** A small object, e.g. a Status or a review. */
  | { type: 'value'; code: number; value: unknown; headers?: Readonly<Record<string, string>> }
  /** Encoded JSON, e.g. one stored object or a discovery document. */
  | { type: 'bytes'; code: number; bytes: Buffer; headers?: Readonly<Record<string, string>> }
  /** JSON text in pieces that are encoded while it is sent. */
  | { type: 'pieces'; pieces: Iterable<BodyPiece> }
  /** Plain text, e.g. of a health check. `code`: default 200. */
  | { type: 'text'; text: string; code?: number }
  /** The client has the document, in the form that it accepts. */
  | { type: 'notModified'; etag: string }
  /** A body that is not in memory. `write` returns early if the client disconnects. */
  | {
      type: 'stream';
      contentType: string;
      headers?: Readonly<Record<string, string>>;
      write: (response: Writable) => Promise<void>;
    };

export function ok(value: unknown): ApiResponse {
  return { type: 'value', code: 200, value };
}
