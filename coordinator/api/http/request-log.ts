/**
 * One line a request for those who have to answer who did what: names and outcomes, never a body, a query or
 * a credential. A watch's line comes when it ends, with its whole duration.
 */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { AccessDecision } from '../../access/rbac-authorizer.js';
import type { Identity } from '../auth/auth-filter.js';
import type { RequestInfo, Verb } from './request-info.js';

/** What is written: nothing, what may have changed something and what was refused to someone, or every request. */
export const REQUEST_LOGS = ['none', 'changes', 'all'] as const;

export type RequestLogLevel = (typeof REQUEST_LOGS)[number];

/** One request with its outcome. */
export interface LoggedRequest {
  method: string;
  /** Path without its query. */
  path: string;
  /** Absent when the request was refused before it was read. */
  info?: RequestInfo;
  /** Absent when nobody was authenticated. */
  identity?: Identity;
  /** By what it was allowed; absent when it was not, or nobody was asked. */
  decision?: AccessDecision;
  /** Somebody signs in to the console. */
  isSignIn?: boolean;
  /** The name that a created object was given. */
  createdName?: string;
  remoteAddress: string;
  userAgent?: string;
  /** HTTP status; 0 when the client left before there was one. */
  code: number;
  durationMs: number;
}

const READING: ReadonlySet<Verb> = new Set(['get', 'list', 'watch']);
/** Texts that clients choose are cut off here. */
const MAX_TEXT = 256;

function isOfInterest({ info, code, isSignIn }: LoggedRequest): boolean {
  if (code === 401 || code === 403 || code === 429 || isSignIn) return true;
  if (info?.type === 'refused') return info.reason === 'traversal';
  return info?.type === 'resource' && !READING.has(info.verb);
}

function objectFields({ info, path, method, createdName }: LoggedRequest): Record<string, unknown> {
  if (info?.type !== 'resource') return { verb: method.toLowerCase(), path: path.slice(0, MAX_TEXT) };
  const name = info.name ?? createdName;
  return {
    verb: info.verb,
    group: info.group,
    resource: info.resource,
    ...(info.namespace === undefined ? {} : { namespace: info.namespace }),
    ...(name === undefined ? {} : { name }),
    ...(info.subresource === undefined ? {} : { subresource: info.subresource }),
    ...(info.query.has('dryRun') ? { dryRun: true } : {}),
  };
}

/** The fields of one line. */
export function requestFields(request: LoggedRequest): Record<string, unknown> {
  const { identity, code, durationMs, remoteAddress, userAgent } = request;
  const by = identity?.impersonator;
  return {
    user: (by ?? identity?.user)?.username ?? '',
    ...(by ? { impersonated: identity?.user.username } : {}),
    ...objectFields(request),
    code,
    durationMs: Math.round(durationMs * 10) / 10,
    remoteAddress,
    userAgent: (userAgent ?? '').slice(0, MAX_TEXT),
  };
}

/** Writes what the level lets through. */
export function requestLogger(level: RequestLogLevel, log: Logger): (request: LoggedRequest) => void {
  if (level === 'none') return () => undefined;
  return (request) => {
    if (level === 'all' || isOfInterest(request)) log.info(requestFields(request), 'request');
  };
}
