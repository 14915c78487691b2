/** apps/v1 Deployment and ReplicaSet, and autoscaling/v1 Scale. */
import type { Condition } from '../objects/conditions.js';
import type { IntOrString, KubeObject, Timestamp } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';
import type { PodTemplateSpec } from '../pods/pod-types.js';

export interface DeploymentCondition extends Condition {
  /** Last time the condition was confirmed, which the progress deadline counts from. */
  lastUpdateTime?: Timestamp | null;
}

interface RollingUpdateDeployment {
  /** Pods that may be unavailable: a number, or a percentage of `replicas` rounded down. */
  maxUnavailable?: IntOrString;
  /** Pods above `replicas`: a number, or a percentage of `replicas` rounded up. */
  maxSurge?: IntOrString;
}

export interface DeploymentStrategy {
  type?: string;
  rollingUpdate?: RollingUpdateDeployment;
}

interface DeploymentSpec {
  replicas?: number;
  selector: LabelSelector;
  template: PodTemplateSpec;
  strategy?: DeploymentStrategy;
  minReadySeconds?: number;
  revisionHistoryLimit?: number;
  paused?: boolean;
  progressDeadlineSeconds?: number;
}

export interface DeploymentStatus {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  terminatingReplicas?: number;
  conditions?: DeploymentCondition[];
  collisionCount?: number;
}

export interface Deployment extends KubeObject {
  spec: DeploymentSpec;
  status?: DeploymentStatus;
}

interface ReplicaSetSpec {
  replicas?: number;
  minReadySeconds?: number;
  selector: LabelSelector;
  template: PodTemplateSpec;
}

export interface ReplicaSetStatus {
  replicas: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  terminatingReplicas?: number;
  observedGeneration?: number;
  conditions?: Condition[];
}

export interface ReplicaSet extends KubeObject {
  spec: ReplicaSetSpec;
  status?: ReplicaSetStatus;
}

export interface Scale extends KubeObject {
  spec: { replicas?: number };
  status: { replicas: number; selector?: string };
}

/** Label on ReplicaSets and their Pods: the hash of the Deployment's template. */
export const POD_TEMPLATE_HASH_LABEL = 'pod-template-hash';
/** Annotation on Deployments and ReplicaSets: the number of the revision. */
export const REVISION_ANNOTATION = 'deployment.kubernetes.io/revision';
/** Annotation on ReplicaSets: earlier revision numbers of the same template, separated by commas. */
export const REVISION_HISTORY_ANNOTATION = 'deployment.kubernetes.io/revision-history';
/** Annotation on ReplicaSets: `spec.replicas` of the Deployment when it was last scaled. */
export const DESIRED_REPLICAS_ANNOTATION = 'deployment.kubernetes.io/desired-replicas';
/** Annotation on ReplicaSets: `spec.replicas` plus maxSurge of the Deployment when it was last scaled. */
export const MAX_REPLICAS_ANNOTATION = 'deployment.kubernetes.io/max-replicas';
