/** Selects the audited requests and builds their audit events. */

import {
  type AuditEvent,
  CHANGES_ANNOTATION,
  DRY_RUN_ANNOTATION,
} from '../../../shared/kube/access/audit-types.js';
import { NODE_USER_PREFIX, NODES_GROUP } from '../../../shared/kube/access/node-identity.js';
import type { UserInfo } from '../../../shared/kube/access/rbac-types.js';
import { FLEET_GROUP, toTimestamp } from '../../../shared/kube/objects/meta.js';
import type { RequestInfo, ResourceRequest } from '../http/request-info.js';
import type { LoggedRequest } from '../http/request-log.js';
import { recordedChanges } from './object-changes.js';

const READING = new Set(['get', 'list', 'watch']);
/** Reviews change nothing, and clients send them all the time. */
const REVIEW_GROUPS = new Set(['authorization.k8s.io', 'authentication.k8s.io']);
/** Texts from clients are truncated to this length. */
const MAX_TEXT = 256;

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'TooManyRequests',
};

interface AuditedRequest extends LoggedRequest {
  auditID: string;
  /** Ms since the epoch. */
  receivedAt: number;
  answeredAt: number;
}

function isOfInterest({ info, code, isSignIn }: LoggedRequest): boolean {
  if (code === 401 || code === 403 || isSignIn) return true;
  if (info?.type === 'refused') return info.reason === 'traversal';
  if (info?.type !== 'resource') return false;
  if (REVIEW_GROUPS.has(info.group)) return false;
  if (isUploadStep(info) && code === 200) return false;
  // A read reveals the Secret.
  const isSecret = info.group === '' && info.resource === 'secrets';
  return isSecret || !READING.has(info.verb);
}

/** An upload of a release changes nothing before its last request, which has `upload` and no `file`. */
function isUploadStep({ group, resource, query }: ResourceRequest): boolean {
  if (group !== FLEET_GROUP || resource !== 'releases') return false;
  return !query.has('upload') || query.has('file');
}

/** Extra of a token that a Pod was given. */
const POD_NAME_EXTRA = 'authentication.kubernetes.io/pod-name';
/** Written all the time by programs, and never by operators. */
const CONTROLLER_RESOURCES: ReadonlySet<string> = new Set(['leases', 'events']);

/**
 * True if the audit log records the changed fields of a write: by an operator, not by an agent or a controller in a
 * Pod, and not of a status.
 */
export function recordsChange(info: ResourceRequest, user: UserInfo): boolean {
  if (user.groups.includes(NODES_GROUP) || user.extra?.[POD_NAME_EXTRA]) return false;
  if (info.subresource !== undefined && info.subresource !== 'scale') return false;
  return !CONTROLLER_RESOURCES.has(info.resource);
}

/** A rejected write has changed nothing. */
function changesOf({ change, code }: LoggedRequest): Record<string, string> {
  const recorded = change && code >= 200 && code < 300 ? recordedChanges(change) : undefined;
  return recorded ? { [CHANGES_ANNOTATION]: JSON.stringify(recorded) } : {};
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
  // No role decided, e.g. because the path has the wrong scope.
  if (code !== 403) return undefined;
  return { 'authorization.k8s.io/decision': 'forbid', 'authorization.k8s.io/reason': '' };
}

/** Returns undefined for a request that is not audited. */
export function auditEvent(request: AuditedRequest): AuditEvent | undefined {
  if (!isOfInterest(request)) return undefined;
  const { info, identity, userAgent, method, isDryRun } = request;
  // A policy or webhook could use this key to hide a change.
  const { [DRY_RUN_ANNOTATION]: _, ...ofAdmission } = request.annotations ?? {};
  const { impersonator } = identity ?? {};
  const user = impersonator ?? identity?.user;
  const annotations = {
    ...annotationsOf(request),
    ...ofAdmission,
    ...changesOf(request),
    ...(isDryRun ? { [DRY_RUN_ANNOTATION]: 'true' } : {}),
  };
  return {
    ...commonFields({ ...request, at: request.answeredAt }),
    verb: verbOf(info, method),
    user: user ? shown(user) : { username: '', groups: [] },
    ...(impersonator && identity ? { impersonatedUser: shown(identity.user) } : {}),
    ...(userAgent ? { userAgent: userAgent.slice(0, MAX_TEXT) } : {}),
    ...(info?.type === 'resource' ? { objectRef: objectRefOf(info, request.createdName) } : {}),
    requestReceivedTimestamp: toTimestamp(request.receivedAt),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
}

/** A host's request to join, or for a new certificate. */
interface JoinAudit {
  auditID: string;
  path: string;
  /** Absent if the host did not send its name. */
  node?: string;
  /** The public part of the bootstrap token. */
  tokenId?: string;
  remoteAddress: string;
  code: number;
  at: number;
}

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

/** A coordinator's request to join, or for the database. */
interface CoordinatorAudit {
  auditID: string;
  path: string;
  verb: string;
  /** The public part of its token. */
  tokenId?: string | undefined;
  /** The member's id, as it was claimed. */
  member?: string | undefined;
  remoteAddress: string;
  code: number;
  at: number;
}

export function coordinatorEvent(request: CoordinatorAudit): AuditEvent {
  const { verb, tokenId, member } = request;
  const username = tokenId ? `everynode:coordinator-token:${tokenId}` : '';
  const known = member && request.code === 200 && !tokenId ? `everynode:coordinator:${member}` : username;
  return {
    ...commonFields(request),
    verb,
    user: { username: known, groups: [] },
    objectRef: {
      ...{ resource: 'coordinators', apiGroup: FLEET_GROUP, apiVersion: 'v1' },
      ...(member ? { name: member } : {}),
    },
  };
}

/** A peer that was rejected before a request or a link was established. */
interface RefusalAudit {
  auditID: string;
  path: string;
  node?: string;
  remoteAddress: string;
  code: number;
  reason: string;
  at: number;
}

export function refusalEvent(refusal: RefusalAudit): AuditEvent {
  const { node } = refusal;
  return {
    ...commonFields(refusal),
    verb: 'connect',
    user: { username: node ? `${NODE_USER_PREFIX}${node}` : '', groups: node ? [NODES_GROUP] : [] },
  };
}

/** `at` is the end of the request, ms since the epoch. `reason` is set if the code alone is not enough. */
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
