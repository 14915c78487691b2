/** A request on a resource after authentication, as the handlers of this room take it. */

import type { Writable } from 'node:stream';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import type { Identities } from '../../access/identities.js';
import type { Registry } from '../../registry/registry.js';
import type { AuditLog } from '../audit/audit-file.js';
import { type ClientLimitSettings, DEFAULT_CLIENT_LIMITS } from '../limits/client-limits.js';
import { DEFAULT_LARGE_READS, type LargeReadSettings, type LargeReads } from '../limits/large-reads.js';
import type { WatchCoalescer } from '../limits/watch-coalescer.js';
import type {
  ChangeCalendarSource,
  ChangePlanner,
  Explainer,
  HostEffectPlanner,
  HostFeed,
  HostMeterSource,
  HostReadingSource,
  JoinFacts,
  PodStreams,
  RestoreControl,
} from '../ports.js';
import type { BodyPiece } from './paced-writer.js';
import type { ResourceRequest } from './request-info.js';
import type { RequestLogLevel } from './request-log.js';

/** Limits and times of the API, with their units in the name. */
export interface ApiSettings {
  /** A reader that takes nothing for so long is cut off. */
  stallMs: number;
  /** How long a client waits for the beginning of an answer, watches and logs apart. */
  responseTimeoutMs: number;
  /** After a stop was asked for, answers under way have so long to finish. */
  drainMs: number;
  /** For each user at each address, and for each address that names no user. */
  clientLimits: ClientLimitSettings;
  largeReads: LargeReadSettings;
  requestLog: RequestLogLevel;
  /** A watch that names no timeout ends after this, up to twice it (spread, so that not all come back at once). */
  watchTimeoutMs: number;
  /** Exec, attach and port-forward end after this time without traffic. */
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

/** What every handler may use. */
export interface ApiDeps {
  registry: Registry;
  streams: PodStreams;
  explainer: Explainer;
  hosts: HostFeed;
  meters: HostMeterSource;
  readings: HostReadingSource;
  planner: ChangePlanner;
  hostEffects: HostEffectPlanner;
  calendars: ChangeCalendarSource;
  /** What hosts that are to join must know. */
  joinFacts: () => Promise<JoinFacts>;
  restore: RestoreControl;
  identities: Identities;
  /** Absent: nothing is audited. */
  audit?: AuditLog;
  clock: Clock;
  /** Shared by all long answers. */
  slice: TimeSlice;
  watchCoalescer: WatchCoalescer;
  /** Places for reads of many objects. */
  largeReads: LargeReads;
  log: Logger;
  settings: ApiSettings;
}

export interface ApiRequest {
  info: ResourceRequest;
  user: UserInfo;
  /** Name under which limits count the request: that of the authenticated user, not of the impersonated one. */
  limitKey: string;
  headers: {
    accept?: string;
    contentType?: string;
    userAgent?: string;
    prefer?: string;
    /** `kubectl rollout status`, say: the command that a kubectl runs. */
    kubectlCommand?: string;
  };
  /** Undecoded; absent when the request has none. */
  body?: Buffer;
  /** Aborts when the client goes. */
  signal: AbortSignal;
  /** Adds a `Warning:` header to the answer. */
  warn: (text: string) => void;
  /** Tells the request log the name of an object that this request made. */
  onCreated: (name: string) => void;
}

export type ApiResponse =
  /** A small object made for this answer: a Status, a review. */
  | { type: 'value'; code: number; value: unknown; headers?: Readonly<Record<string, string>> }
  /** JSON that exists as bytes already: one stored object, a discovery document. */
  | { type: 'bytes'; code: number; bytes: Buffer; headers?: Readonly<Record<string, string>> }
  /** A JSON text in pieces, made while it is sent. */
  | { type: 'pieces'; pieces: Iterable<BodyPiece> }
  /** Plain text, e.g. of the health checks. */
  | { type: 'text'; text: string }
  /** Nothing has changed since the client's copy. */
  | { type: 'notModified'; etag: string }
  /** A body that is made while it is sent. `write` ends early when the client goes. */
  | { type: 'stream'; contentType: string; write: (response: Writable) => Promise<void> };

/** 200 with a small object. */
export function ok(value: unknown): ApiResponse {
  return { type: 'value', code: 200, value };
}
