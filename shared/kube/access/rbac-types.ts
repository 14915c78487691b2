/** rbac.authorization.k8s.io/v1 types, and the attributes of an access check. */

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

export interface Role extends KubeObject {
  rules?: PolicyRule[];
  /** ClusterRoles only: `rules` are the union of the rules of all selected ClusterRoles. */
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] };
}

export interface Subject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

export interface RoleBinding extends KubeObject {
  roleRef?: { apiGroup?: string; kind?: string; name?: string };
  subjects?: Subject[];
}

export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Access to a resource. `group` is empty for the core group, `namespace` for cluster scope. */
export interface ResourceAccess {
  verb: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  /** Empty: no particular object. */
  name: string;
  /** For lists of Pods: the node that the field selector selects. */
  nodeName?: string;
}

/** Access to a path that is not a resource. */
export interface PathAccess {
  /** Lower-case HTTP method. */
  verb: string;
  path: string;
}

export type Access = ResourceAccess | PathAccess;
