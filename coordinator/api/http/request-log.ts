/**
 * The request log: one line per request with names and outcomes, never a body, a query or a credential. The line of a
 * watch is written when it ends, with its whole duration.
 */
import type { Logger } from '../../../shared/process/output/logger.js';
import type { AccessDecision } from '../../access/rbac-authorizer.js';
import type { ObjectChange } from '../audit/object-changes.js';
import type { Identity } from '../auth/auth-filter.js';
import type { RequestInfo, Verb } from './request-info.js';

/** `changes`: requests that may change something, and refused requests. */
export const REQUEST_LOGS = ['none', 'changes', 'all'] as const;

export type RequestLogLevel = (typeof REQUEST_LOGS)[number];

export interface LoggedRequest {
  method: string;
  path: string;
  /** Absent if the request was rejected before it was parsed. */
  info?: RequestInfo;
  /** Absent if the client was not authenticated. */
  identity?: Identity;
  /** The rule that allowed the request. Absent if no rule allowed it, or none was needed. */
  decision?: AccessDecision;
  isSignIn?: boolean;
  createdName?: string;
  /** The handler stored nothing. Not read from the query: some handlers ignore the parameter and act. */
  isDryRun?: boolean;
  annotations?: Record<string, string>;
  /** The object that the write was about to store, for the audit event. Absent for agents. */
  change?: ObjectChange;
  remoteAddress: string;
  userAgent?: string;
  /** HTTP status; 0 if the client disconnected before there was one. */
  code: number;
  durationMs: number;
}

const READING: ReadonlySet<Verb> = new Set(['get', 'list', 'watch']);
/** Texts from clients are truncated to this length. */
const MAX_TEXT = 256;

function isOfInterest({ info, code, isSignIn }: LoggedRequest): boolean {
  if (code === 401 || code === 403 || code === 429 || isSignIn) return true;
  if (info?.type === 'refused') return info.reason === 'traversal';
  return info?.type === 'resource' && !READING.has(info.verb);
}

function objectFields({ info, path, method, createdName, isDryRun }: LoggedRequest): Record<string, unknown> {
  if (info?.type !== 'resource') return { verb: method.toLowerCase(), path: path.slice(0, MAX_TEXT) };
  const name = info.name ?? createdName;
  return {
    verb: info.verb,
    group: info.group,
    resource: info.resource,
    ...(info.namespace === undefined ? {} : { namespace: info.namespace }),
    ...(name === undefined ? {} : { name }),
    ...(info.subresource === undefined ? {} : { subresource: info.subresource }),
    ...(isDryRun ? { dryRun: true } : {}),
  };
}

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

/** Returns a function that writes the requests of this level. */
export function requestLogger(level: RequestLogLevel, log: Logger): (request: LoggedRequest) => void {
  if (level === 'none') return () => undefined;
  return (request) => {
    if (level === 'all' || isOfInterest(request)) log.info(requestFields(request), 'request');
  };
}
