/** audit.k8s.io/v1 Event at level Metadata: user, source address, request and result. Bodies are never recorded. */
import type { Timestamp } from '../objects/meta.js';
import type { UserInfo } from './rbac-types.js';

export interface AuditEvent {
  kind: 'Event';
  apiVersion: 'audit.k8s.io/v1';
  level: 'Metadata';
  auditID: string;
  stage: 'ResponseComplete';
  /** Path without the query: a command or selector in the query may be confidential. */
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
  /** `authorization.k8s.io/decision` and `…/reason`, like kube-apiserver. */
  annotations?: Record<string, string>;
}
