/**
 * `GET /apis/fleet.everynode.dev/v1/auditevents`: the newest matching events, for the console and `everynode audit`.
 */
import type { AuditEvent } from '../../../shared/kube/access/audit-types.js';
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { pathNotFound } from '../http/status-response.js';
import { integerParameter, requireKnownParameters } from '../resources/query-options.js';
import { readAudit } from './audit-file.js';

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 10_000;
const TEXT_PARAMETERS = ['user', 'verb', 'resource', 'namespace', 'name', 'code'] as const;
const PARAMETERS = [...TEXT_PARAMETERS, 'since', 'limit'];

/** The filters of a request. Values must be equal; `code` may be `403` or `4xx`. */
interface AuditQuery {
  user?: string;
  verb?: string;
  resource?: string;
  namespace?: string;
  name?: string;
  code?: string;
  /** Ms since the epoch. */
  since?: number;
}

/**
 * A user who may list this resource reads the audit log of all namespaces, object names included. An auditor must see
 * deletions and refusals also in namespaces that the auditor cannot read.
 */
export const AUDIT_RESOURCE = computedResource('AuditEvent', 'auditevents', ['list']);

/** Throws ApiError: 400 for an invalid query, 404 if the audit log is off. */
export async function handleAudit({ audit }: ApiDeps, { info, signal }: ApiRequest): Promise<ApiResponse> {
  if (!audit) throw pathNotFound();
  const { query } = info;
  requireKnownParameters(query, PARAMETERS);
  const limit = Math.min(integerParameter(query, 'limit', 1) ?? DEFAULT_LIMIT, MAX_LIMIT);
  const wanted = queryOf(query);
  await audit.flush();
  const items: AuditEvent[] = [];
  for await (const event of readAudit(audit.path)) {
    if (signal.aborted) break;
    if (!matchesAuditQuery(event, wanted)) continue;
    items.push(event);
    if (items.length > limit) items.shift();
  }
  return ok({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items });
}

function queryOf(query: URLSearchParams): AuditQuery {
  const since = query.get('since');
  if (since !== null && Number.isNaN(Date.parse(since))) throw badRequest('since must be an RFC 3339 time');
  const requested: AuditQuery = {};
  for (const name of TEXT_PARAMETERS) {
    const value = query.get(name);
    if (value) requested[name] = value;
  }
  if (since !== null) requested.since = Date.parse(since);
  return requested;
}

function matchesAuditQuery(event: AuditEvent, wanted: AuditQuery): boolean {
  const { objectRef: object = {}, responseStatus, verb, user, impersonatedUser } = event;
  const { code } = wanted;
  const status = String(responseStatus.code);
  return (
    (wanted.user === undefined || [user.username, impersonatedUser?.username].includes(wanted.user)) &&
    (wanted.verb === undefined || verb === wanted.verb) &&
    (wanted.resource === undefined || object.resource === wanted.resource) &&
    (wanted.namespace === undefined || object.namespace === wanted.namespace) &&
    (wanted.name === undefined || object.name === wanted.name) &&
    (code === undefined || status === code || (code.endsWith('xx') && status.startsWith(code.slice(0, 1)))) &&
    (wanted.since === undefined || Date.parse(event.requestReceivedTimestamp) >= wanted.since)
  );
}
