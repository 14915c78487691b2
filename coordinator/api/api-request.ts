/** A request on a resource after authentication, as the handlers of this room take it. */
import type { Clock } from '../../shared/process/clock.js';
import type { Logger } from '../../shared/process/log.js';
import type { Registry } from '../registry/registry.js';
import type { UserInfo } from './authenticate.js';
import type { Explain } from './explain.js';
import type { PodStreams } from './pod-streams.js';
import type { ResourceRequest } from './request-info.js';
import type { RestoreControl } from './restore-control.js';

/** Limits and times of the API, with their units in the name. */
export interface ApiSettings {
  /** A reader that takes nothing for so long is cut off. */
  stallMs: number;
  /** A watch that names no timeout ends after this, up to twice it (spread, so that not all come back at once). */
  watchTimeoutMs: number;
}

export const DEFAULT_API_SETTINGS: ApiSettings = { stallMs: 30_000, watchTimeoutMs: 30 * 60_000 };

/** What every handler may use. */
export interface ApiParts {
  registry: Registry;
  streams: PodStreams;
  explain: Explain;
  restore: RestoreControl;
  clock: Clock;
  log: Logger;
  settings: ApiSettings;
}

export interface ApiRequest {
  info: ResourceRequest;
  user: UserInfo;
  headers: { accept?: string; contentType?: string; userAgent?: string };
  /** Undecoded; absent when the request has none. */
  body?: Buffer;
  /** Aborts when the client goes. */
  signal: AbortSignal;
  /** Adds a `Warning:` header to the answer. */
  warn: (text: string) => void;
}
