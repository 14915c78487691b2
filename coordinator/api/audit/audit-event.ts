/** Which requests are audited, and what is written of each. */
import type { AuditEvent } from '../../../shared/kube/access/audit-types.js';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { RequestInfo, ResourceRequest } from '../http/request-info.js';
import type { LoggedRequest } from '../http/request-log.js';

const READING = new Set(['get', 'list', 'watch']);
/** Questions: they change nothing, and clients ask them all the time. */
const REVIEW_GROUPS = new Set(['authorization.k8s.io', 'authentication.k8s.io']);
/** Texts that clients choose are cut off here. */
const MAX_TEXT = 256;

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'TooManyRequests',
};

/** What the request log knows, and when it was. */
interface AuditedRequest extends LoggedRequest {
  auditID: string;
  /** When the request came and when it was answered, ms since the epoch. */
  receivedAt: number;
  answeredAt: number;
}

function isOfInterest({ info, code, isSignIn }: LoggedRequest): boolean {
  if (code === 401 || code === 403 || isSignIn) return true;
  if (info?.type === 'refused') return info.reason === 'traversal';
  if (info?.type !== 'resource') return false;
  if (REVIEW_GROUPS.has(info.group)) return false;
  // Whoever reads a Secret has it.
  const isSecret = info.group === '' && info.resource === 'secrets';
  return isSecret || !READING.has(info.verb);
}

function verbOf(info: RequestInfo | undefined, method: string): string {
  return info?.type === 'resource' ? info.verb : method.toLowerCase();
}

function objectRefOf(info: ResourceRequest, createdName: string | undefined): AuditEvent['objectRef'] {
  const { group, version, resource, namespace, subresource } = info;
  const name = info.name ?? createdName;
  return {
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name: name.slice(0, MAX_TEXT) }),
    ...(group ? { apiGroup: group } : {}),
    apiVersion: version,
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function shown({ username, uid, groups, extra }: UserInfo): AuditEvent['user'] {
  return { username, ...(uid ? { uid } : {}), groups, ...(extra ? { extra } : {}) };
}

function annotationsOf({ code, decision, identity }: LoggedRequest): Record<string, string> | undefined {
  if (!identity) return undefined;
  if (decision) {
    return { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': decision.reason };
  }
  // No role was asked: the path has the wrong scope, for example.
  if (code !== 403) return undefined;
  return { 'authorization.k8s.io/decision': 'forbid', 'authorization.k8s.io/reason': '' };
}

/** The event, undefined for a request that nobody needs to answer for. */
export function auditEvent(request: AuditedRequest): AuditEvent | undefined {
  if (!isOfInterest(request)) return undefined;
  const { info, identity, userAgent, method } = request;
  const { impersonator } = identity ?? {};
  const user = impersonator ?? identity?.user;
  const annotations = annotationsOf(request);
  return {
    ...commonFields({ ...request, at: request.answeredAt }),
    verb: verbOf(info, method),
    user: user ? shown(user) : { username: '', groups: [] },
    ...(impersonator && identity ? { impersonatedUser: shown(identity.user) } : {}),
    ...(userAgent ? { userAgent: userAgent.slice(0, MAX_TEXT) } : {}),
    ...(info?.type === 'resource' ? { objectRef: objectRefOf(info, request.createdName) } : {}),
    requestReceivedTimestamp: toTimestamp(request.receivedAt),
    ...(annotations ? { annotations } : {}),
  };
}

/** A host that asked to join or for a new certificate. */
interface JoinAudit {
  auditID: string;
  path: string;
  /** Absent when the host did not say. */
  node?: string;
  /** Of the bootstrap token, the part that is no secret. */
  tokenId?: string;
  remoteAddress: string;
  code: number;
  at: number;
}

/** The event of a join. */
export function joinEvent(join: JoinAudit): AuditEvent {
  const { node, tokenId } = join;
  const username = tokenId ? `system:bootstrap:${tokenId}` : '';
  return {
    ...commonFields(join),
    verb: 'join',
    user: { username, groups: username ? ['system:bootstrappers'] : [] },
    objectRef: { resource: 'nodes', apiVersion: 'v1', ...(node ? { name: node } : {}) },
  };
}

/** Somebody who was sent away before a request or a link of theirs came to anything. */
interface RefusalAudit {
  auditID: string;
  path: string;
  node?: string;
  remoteAddress: string;
  code: number;
  reason: string;
  at: number;
}

/** The event of such a refusal. */
export function refusalEvent(refusal: RefusalAudit): AuditEvent {
  const { node } = refusal;
  return {
    ...commonFields(refusal),
    verb: 'connect',
    user: { username: node ? `system:node:${node}` : '', groups: node ? ['system:nodes'] : [] },
  };
}

/** `at` is when it was over, ms since the epoch; `reason` where the code alone does not say it. */
interface Outcome {
  auditID: string;
  path: string;
  remoteAddress: string;
  code: number;
  reason?: string;
  at: number;
}

function commonFields({
  auditID,
  path,
  remoteAddress,
  code,
  reason = REASONS[code],
  at,
}: Outcome): Omit<AuditEvent, 'verb' | 'user'> {
  const time = toTimestamp(at);
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID,
    stage: 'ResponseComplete',
    requestURI: path.slice(0, MAX_TEXT),
    sourceIPs: [remoteAddress],
    responseStatus: { metadata: {}, code, ...(reason ? { reason: reason.slice(0, MAX_TEXT) } : {}) },
    requestReceivedTimestamp: time,
    stageTimestamp: time,
  };
}
