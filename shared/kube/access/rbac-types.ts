/** rbac.authorization.k8s.io/v1, and who is asking. */

import type { KubeObject } from '../objects/meta.js';
import type { LabelSelector } from '../objects/selectors.js';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

export interface PolicyRule {
  verbs?: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/** Role and ClusterRole. */
export interface Role extends KubeObject {
  rules?: PolicyRule[];
  /** ClusterRoles alone: `rules` are those of the ClusterRoles that one of the selectors matches. */
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] };
}

export interface Subject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

/** RoleBinding and ClusterRoleBinding. */
export interface RoleBinding extends KubeObject {
  roleRef?: { apiGroup?: string; kind?: string; name?: string };
  subjects?: Subject[];
}

/** authentication.k8s.io/v1 UserInfo. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What someone wants to do to a resource. `group` and `namespace` are "" for the core group and for the cluster's scope. */
export interface ResourceAccess {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  /** "" = none in particular. */
  name: string;
  /** Of a list of Pods: the node that it selects. */
  nodeName?: string;
}

/** What someone wants to do to a path that is no resource. */
export interface PathAccess {
  /** Lower-case HTTP method. */
  verb: string;
  path: string;
}

export type Access = ResourceAccess | PathAccess;
