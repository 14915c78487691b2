/** batch/v1 Job and CronJob. */
import { type Condition, isConditionTrue } from '../objects/conditions.js';
import type { KubeObject, ObjectMeta, Timestamp } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';
import type { PodTemplateSpec } from '../pods/pod-types.js';

export const CONTROLLER_UID_LABEL = 'batch.kubernetes.io/controller-uid';
export const LEGACY_CONTROLLER_UID_LABEL = 'controller-uid';
export const JOB_NAME_LABEL = 'batch.kubernetes.io/job-name';
export const LEGACY_JOB_NAME_LABEL = 'job-name';
/** Annotation and label of an indexed Job's Pod. */
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
/** How many Pods of this index failed before, without ignored failures. */
export const INDEX_FAILURE_COUNT = 'batch.kubernetes.io/job-index-failure-count';
/** Failed Pods of this index that the podFailurePolicy ignores. */
export const INDEX_IGNORED_FAILURES = 'batch.kubernetes.io/job-index-ignored-failure-count';
/** Keeps a Job's Pod stored until the Job has counted it. */
export const JOB_TRACKING = 'batch.kubernetes.io/job-tracking';
export const JOB_CONTROLLER = 'kubernetes.io/job-controller';

export interface ExitCodeRequirement {
  containerName?: string;
  operator: string;
  values: number[];
}

export interface PodConditionPattern {
  type: string;
  status: string;
}

export interface PodFailurePolicyRule {
  action: string;
  onExitCodes?: ExitCodeRequirement;
  onPodConditions?: PodConditionPattern[];
}

export interface SuccessPolicyRule {
  succeededIndexes?: string;
  succeededCount?: number;
}

export interface JobSpec {
  parallelism?: number;
  completions?: number;
  activeDeadlineSeconds?: number;
  backoffLimit?: number;
  backoffLimitPerIndex?: number;
  maxFailedIndexes?: number;
  selector?: LabelSelector;
  manualSelector?: boolean;
  template: PodTemplateSpec;
  ttlSecondsAfterFinished?: number;
  completionMode?: string;
  suspend?: boolean;
  podReplacementPolicy?: string;
  podFailurePolicy?: { rules: PodFailurePolicyRule[] };
  successPolicy?: { rules: SuccessPolicyRule[] };
  managedBy?: string;
}

/** Uids of Pods that have ended, and that the counters do not contain yet. */
export interface UncountedPods {
  succeeded?: string[];
  failed?: string[];
}

export interface JobStatus {
  conditions?: Condition[];
  startTime?: Timestamp;
  completionTime?: Timestamp;
  active?: number;
  ready?: number;
  terminating?: number;
  succeeded?: number;
  failed?: number;
  completedIndexes?: string;
  failedIndexes?: string;
  uncountedTerminatedPods?: UncountedPods;
}

export interface Job extends KubeObject {
  spec: JobSpec;
  status?: JobStatus;
}

export interface JobTemplateSpec {
  metadata?: Partial<ObjectMeta>;
  spec: JobSpec;
}

/** A reference to a running Job of a CronJob. */
interface JobReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
}

export interface CronJob extends KubeObject {
  spec: {
    schedule: string;
    timeZone?: string;
    startingDeadlineSeconds?: number;
    concurrencyPolicy?: string;
    suspend?: boolean;
    jobTemplate: JobTemplateSpec;
    successfulJobsHistoryLimit?: number;
    failedJobsHistoryLimit?: number;
  };
  status?: { active?: JobReference[]; lastScheduleTime?: Timestamp; lastSuccessfulTime?: Timestamp };
}

export function isIndexed({ completionMode }: Pick<JobSpec, 'completionMode'>): boolean {
  return completionMode === 'Indexed';
}

/** Returns the terminal condition's type, or undefined while the Job is not finished. */
export function finishedAs({ status }: Pick<Job, 'status'>): 'Complete' | 'Failed' | undefined {
  if (isConditionTrue(status?.conditions, 'Complete')) return 'Complete';
  return isConditionTrue(status?.conditions, 'Failed') ? 'Failed' : undefined;
}
