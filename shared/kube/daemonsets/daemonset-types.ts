/** apps/v1 DaemonSet and ControllerRevision. */
import type { Condition } from '../objects/conditions.js';
import type { IntOrString, KubeObject } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';
import type { PodTemplateSpec } from '../pods/pod-types.js';

export type { IntOrString } from '../objects/meta.js';

export interface RollingUpdateDaemonSet {
  /** Pods that may be unavailable at once: a number, or a percentage of desired rounded up. */
  maxUnavailable?: IntOrString;
  /** Additional Pods during an update, at most one for each node: a number, or a percentage rounded up. */
  maxSurge?: IntOrString;
}

export interface DaemonSetUpdateStrategy {
  type?: string;
  rollingUpdate?: RollingUpdateDaemonSet;
}

export interface DaemonSetSpec {
  selector: LabelSelector;
  template: PodTemplateSpec;
  updateStrategy?: DaemonSetUpdateStrategy;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
}

export interface DaemonSetStatus {
  currentNumberScheduled: number;
  numberMisscheduled: number;
  desiredNumberScheduled: number;
  numberReady: number;
  observedGeneration?: number;
  updatedNumberScheduled?: number;
  numberAvailable?: number;
  numberUnavailable?: number;
  collisionCount?: number;
  conditions?: Condition[];
}

export interface DaemonSet extends KubeObject {
  spec: DaemonSetSpec;
  status?: DaemonSetStatus;
}

export interface ControllerRevision extends KubeObject {
  /** A strategic merge patch for the owner. Opaque to the API. */
  data?: unknown;
  revision: number;
}

/** Label on Pods and ControllerRevisions: the template's revision. */
export const REVISION_HASH_LABEL = 'controller-revision-hash';
/** Label on Pods: the DaemonSet's template generation at creation. */
export const TEMPLATE_GENERATION_LABEL = 'pod-template-generation';
/** Annotation on DaemonSets, set by the server: counts template changes. */
export const TEMPLATE_GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';
