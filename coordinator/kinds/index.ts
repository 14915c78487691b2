/** The kinds that the API serves: adding one is a file and a line here. */
import { certificateSigningRequestKind } from './certificatesigningrequest.js';
import { configMapKind } from './configmap.js';
import { controllerRevisionKind } from './controllerrevision.js';
import { daemonSetKind } from './daemonset.js';
import { eventKind } from './event.js';
import type { Kind } from './kind.js';
import { leaseKind } from './lease.js';
import { namespaceKind } from './namespace.js';
import { nodeKind } from './node.js';
import { podKind } from './pod.js';
import { clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind } from './rbac.js';
import { rolloutKind } from './rollout.js';
import { rolloutPolicyKind } from './rolloutpolicy.js';
import { secretKind } from './secret.js';
import { serviceKind } from './service.js';
import { serviceAccountKind } from './serviceaccount.js';

export {
  certificateSigningRequestKind,
  clusterRoleBindingKind,
  clusterRoleKind,
  configMapKind,
  controllerRevisionKind,
  daemonSetKind,
  eventKind,
  leaseKind,
  namespaceKind,
  nodeKind,
  podKind,
  roleBindingKind,
  roleKind,
  rolloutKind,
  rolloutPolicyKind,
  secretKind,
  serviceAccountKind,
  serviceKind,
};

/** In the order of discovery: core first, each group by name. */
export const ALL_KINDS: readonly Kind[] = [
  configMapKind,
  eventKind,
  namespaceKind,
  nodeKind,
  podKind,
  secretKind,
  serviceAccountKind,
  serviceKind,
  controllerRevisionKind,
  daemonSetKind,
  certificateSigningRequestKind,
  leaseKind,
  rolloutKind,
  rolloutPolicyKind,
  clusterRoleBindingKind,
  clusterRoleKind,
  roleBindingKind,
  roleKind,
];
