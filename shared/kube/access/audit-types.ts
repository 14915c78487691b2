/**
 * audit.k8s.io/v1 Event at level Metadata: user, source address, request and result. Bodies are not recorded. An
 * annotation has the fields that a write of a user changed.
 */
import type { Timestamp } from '../objects/meta.js';
import type { UserInfo } from './rbac-types.js';

/** Annotation with the changed fields of a write, as JSON of `RecordedChanges`. */
export const CHANGES_ANNOTATION = 'fleet.everynode.dev/changes';

/** Annotation `true` of a request that stored nothing. */
export const DRY_RUN_ANNOTATION = 'fleet.everynode.dev/dry-run';

/** Stands for a confidential value. */
export const NOT_RECORDED = '(not recorded)';

/** `before` is absent for an added field, `after` for a removed one. */
export interface FieldChange {
  /** For example `spec.template.spec.containers[main].image`. */
  path: string;
  before?: unknown;
  after?: unknown;
}

/** What a write changed, without confidential values. */
export interface RecordedChanges {
  fields: FieldChange[];
  /** Number of further changed fields, which did not fit. */
  omitted: number;
}

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
  /** `authorization.k8s.io/decision` and `…/reason`, like kube-apiserver, and the annotations above. */
  annotations?: Record<string, string>;
}
