/** v1 LimitRange and ResourceQuota. */
import type { KubeObject } from '../objects/meta.js';
import type { ResourceList } from '../pods/pod-types.js';

export interface LimitRangeItem {
  /** `Container`, `Pod` or `PersistentVolumeClaim`. */
  type: string;
  min?: ResourceList;
  max?: ResourceList;
  /** Limits of containers that have none. */
  default?: ResourceList;
  /** Requests of containers that have none. */
  defaultRequest?: ResourceList;
  maxLimitRequestRatio?: ResourceList;
}

export interface LimitRange extends KubeObject {
  spec?: { limits?: LimitRangeItem[] };
}

/** Selects the Pods that a quota counts. */
export interface ScopeRequirement {
  scopeName: string;
  operator: string;
  values?: string[];
}

export interface ResourceQuotaSpec {
  hard?: ResourceList;
  scopes?: string[];
  scopeSelector?: { matchExpressions?: ScopeRequirement[] };
}

export interface ResourceQuota extends KubeObject {
  spec?: ResourceQuotaSpec;
  status?: { hard?: ResourceList; used?: ResourceList };
}
