/** audit.k8s.io/v1 Event at the level Metadata: one request, by whom, from where, with what result. Never a body. */
import type { Timestamp } from '../objects/meta.js';
import type { UserInfo } from './rbac-types.js';

export interface AuditEvent {
  kind: 'Event';
  apiVersion: 'audit.k8s.io/v1';
  level: 'Metadata';
  auditID: string;
  stage: 'ResponseComplete';
  /** The path without its query: a command or a selector may hold what is nobody's business. */
  requestURI: string;
  verb: string;
  user: Pick<UserInfo, 'username' | 'uid' | 'groups' | 'extra'>;
  impersonatedUser?: Pick<UserInfo, 'username' | 'uid' | 'groups'>;
  sourceIPs: string[];
  userAgent?: string;
  objectRef?: {
    resource?: string;
    namespace?: string;
    name?: string;
    apiGroup?: string;
    apiVersion?: string;
    subresource?: string;
  };
  responseStatus: { metadata: Record<string, never>; code: number; reason?: string };
  requestReceivedTimestamp: Timestamp;
  stageTimestamp: Timestamp;
  /** `authorization.k8s.io/decision` and `…/reason`, as upstream. */
  annotations?: Record<string, string>;
}
