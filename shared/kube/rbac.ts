/** rbac.authorization.k8s.io/v1: stored for charts and for later, without effect yet. */
import type { KubeObject } from './meta.js';

export interface PolicyRule {
  verbs?: string[];
  apiGroups?: string[];
  resources?: string[];
  nonResourceURLs?: string[];
}

/** Role and ClusterRole. */
export interface Role extends KubeObject {
  rules?: PolicyRule[];
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
