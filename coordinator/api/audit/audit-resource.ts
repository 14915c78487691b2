/**
 * `GET /apis/fleet.everynode.dev/v1/auditevents`: the newest matching events, for the console and `everynode audit`.
 */
import {
  type AuditEvent,
  CHANGES_ANNOTATION,
  DRY_RUN_ANNOTATION,
} from '../../../shared/kube/access/audit-types.js';
import type { Access } from '../../../shared/kube/access/rbac-types.js';
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import { pathNotFound } from '../http/status-response.js';
import { integerParameter, requireKnownParameters } from '../resources/query-options.js';
import { readAudit } from './audit-file.js';

const DEFAULT_LIMIT = 500;
const MAX_LIMIT = 10_000;
const TEXT_PARAMETERS = ['user', 'verb', 'resource', 'namespace', 'name', 'code'] as const;
const PARAMETERS = [...TEXT_PARAMETERS, 'since', 'until', 'changes', 'limit'];

/** The filters of a request. Values must be equal; `code` may be `403` or `4xx`. */
interface AuditQuery {
  user?: string;
  verb?: string;
  resource?: string;
  namespace?: string;
  name?: string;
  code?: string;
  /** Ms since the epoch, inclusive. */
  since?: number;
  /** Ms since the epoch, exclusive. */
  until?: number;
  /** Without reads, sign-ins and refusals. */
  changesOnly: boolean;
}

/**
 * A user who may list this resource reads the audit log of all namespaces, object names included. An auditor must see
 * deletions and refusals also in namespaces that the auditor cannot read.
 */
export const AUDIT_RESOURCE = computedResource('AuditEvent', 'auditevents', ['list']);

/** Throws ApiError: 400 for an invalid query, 404 if the audit log is off. */
export async function handleAudit(
  { audit, identities }: ApiDeps,
  { info, signal, user }: ApiRequest,
): Promise<ApiResponse> {
  if (!audit) throw pathNotFound();
  const { query } = info;
  requireKnownParameters(query, PARAMETERS);
  const limit = Math.min(integerParameter(query, 'limit', 1) ?? DEFAULT_LIMIT, MAX_LIMIT);
  const wanted = queryOf(query);
  await audit.flush();
  const items: AuditEvent[] = [];
  for await (const event of readAudit(audit.path, searchOf(wanted))) {
    if (signal.aborted) break;
    if (!matchesAuditQuery(event, wanted)) continue;
    items.push(event);
    if (items.length > limit) items.shift();
  }
  const hide = changeFilter((access) => identities.authorizer.decide(user, access).allowed);
  return ok({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items: items.map(hide) });
}

/**
 * Returns a function that removes the changed fields of objects that the reader may not get: names of all objects are
 * meant for auditors, values are not.
 */
function changeFilter(mayRead: (access: Access) => boolean): (event: AuditEvent) => AuditEvent {
  const decided = new Map<string, boolean>();
  return (event) => {
    const { annotations = {}, objectRef = {} } = event;
    const { [CHANGES_ANNOTATION]: changes, ...others } = annotations;
    if (changes === undefined) return event;
    const { apiGroup: group = '', resource = '', namespace = '', name = '' } = objectRef;
    const key = [group, resource, namespace, name].join('/');
    const allowed =
      decided.get(key) ?? mayRead({ verb: 'get', group, resource, subresource: '', namespace, name });
    decided.set(key, allowed);
    return allowed ? event : { ...event, annotations: others };
  };
}

function queryOf(query: URLSearchParams): AuditQuery {
  const since = timeIn(query, 'since');
  const until = timeIn(query, 'until');
  const changes = query.get('changes') ?? 'false';
  if (changes !== 'true' && changes !== 'false') throw badRequest('changes must be true or false');
  const requested: AuditQuery = { changesOnly: changes === 'true' };
  for (const name of TEXT_PARAMETERS) {
    const value = query.get(name);
    if (value) requested[name] = value;
  }
  if (since !== undefined) requested.since = since;
  if (until !== undefined) requested.until = until;
  return requested;
}

/** The fields whose values must be equal. A code can be a class of codes. */
function searchOf({ user, verb, resource, namespace, name, since }: AuditQuery) {
  const texts = [user, verb, resource, namespace, name].filter((text) => text !== undefined);
  return { texts, since };
}

function timeIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw badRequest(`${name} must be an RFC 3339 time`);
  return time;
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
    (wanted.since === undefined || Date.parse(event.requestReceivedTimestamp) >= wanted.since) &&
    (wanted.until === undefined || Date.parse(event.requestReceivedTimestamp) < wanted.until) &&
    (!wanted.changesOnly || isChange(event))
  );
}

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
/** Computed answers: a create stores nothing. */
const PREVIEWS: ReadonlySet<string> = new Set(['plan', 'hosteffects', 'daemonjobpreviews']);
/** A command in a container can change anything. Clients open it by GET over a WebSocket. */
const STREAMS: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward']);

/** True for a request that changed an object, opened a stream into a Pod, or let a host or coordinator join. */
function isChange({ verb, objectRef, responseStatus, annotations }: AuditEvent): boolean {
  if (objectRef === undefined || responseStatus.code >= 400) return false;
  if (STREAMS.has(objectRef.subresource ?? '')) return true;
  // The console sends dry runs and previews while an operator types.
  if (objectRef.apiGroup === FLEET_GROUP && PREVIEWS.has(objectRef.resource ?? '')) return false;
  if (annotations?.[DRY_RUN_ANNOTATION] === 'true') return false;
  return !READS.has(verb);
}
