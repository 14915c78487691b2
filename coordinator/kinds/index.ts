/** All kinds that the API serves. A new kind needs a file and a line here. */
import { certificateSigningRequestKind } from './access/certificatesigningrequest-kind.js';
import { clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind } from './access/rbac-kinds.js';
import { serviceAccountKind } from './access/serviceaccount-kind.js';
import {
  validatingAdmissionPolicyBindingKind,
  validatingAdmissionPolicyKind,
} from './admission/admission-policy-kinds.js';
import {
  mutatingWebhookConfigurationKind,
  validatingWebhookConfigurationKind,
} from './admission/webhook-kinds.js';
import { configMapKind } from './config/configmap-kind.js';
import { secretKind } from './config/secret-kind.js';
import { customResourceDefinitionKind } from './custom-resources/customresourcedefinition-kind.js';
import { cronDaemonJobKind } from './daemonjobs/cron-daemonjob-kind.js';
import { daemonJobKind } from './daemonjobs/daemonjob-kind.js';
import { daemonJobResultKind } from './daemonjobs/daemonjobresult-kind.js';
import { controllerRevisionKind } from './daemonsets/controllerrevision-kind.js';
import { daemonSetKind } from './daemonsets/daemonset-kind.js';
import { daemonSetOverrideKind } from './daemonsets/daemonset-override-kind.js';
import { eventKind } from './events/event-kind.js';
import { eventsV1Kind } from './events/events-v1-kind.js';
import { hostValuesKind } from './host-values/hostvalues-kind.js';
import { ingressClassKind, ingressKind } from './inert/ingress-kinds.js';
import { horizontalPodAutoscalerKind, podTemplateKind, runtimeClassKind } from './inert/other-kinds.js';
import {
  csiDriverKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  storageClassKind,
} from './inert/storage-kinds.js';
import { cronJobKind } from './jobs/cronjob-kind.js';
import { jobKind } from './jobs/job-kind.js';
import type { Kind } from './kind.js';
import { namespaceKind } from './namespace-kind.js';
import { leaseKind } from './nodes/lease-kind.js';
import { nodeKind } from './nodes/node-kind.js';
import { podKind } from './pods/pod-kind.js';
import { limitRangeKind } from './policy/limitrange-kind.js';
import { podDisruptionBudgetKind } from './policy/poddisruptionbudget-kind.js';
import { resourceQuotaKind } from './policy/resourcequota-kind.js';
import { priorityClassKind } from './priorityclass-kind.js';
import { rolloutKind } from './rollouts/rollout-kind.js';
import { rolloutPolicyKind } from './rollouts/rolloutpolicy-kind.js';
import { endpointSliceKind, endpointsKind } from './services/endpoint-kinds.js';
import { serviceKind } from './services/service-kind.js';
import { deploymentKind } from './workloads/deployment-kind.js';
import { replicaSetKind } from './workloads/replicaset-kind.js';

export {
  certificateSigningRequestKind,
  clusterRoleBindingKind,
  clusterRoleKind,
  configMapKind,
  controllerRevisionKind,
  cronDaemonJobKind,
  cronJobKind,
  customResourceDefinitionKind,
  daemonJobKind,
  daemonJobResultKind,
  daemonSetKind,
  daemonSetOverrideKind,
  deploymentKind,
  endpointSliceKind,
  endpointsKind,
  eventKind,
  eventsV1Kind,
  hostValuesKind,
  jobKind,
  leaseKind,
  limitRangeKind,
  mutatingWebhookConfigurationKind,
  namespaceKind,
  nodeKind,
  podDisruptionBudgetKind,
  podKind,
  priorityClassKind,
  replicaSetKind,
  resourceQuotaKind,
  roleBindingKind,
  roleKind,
  rolloutKind,
  rolloutPolicyKind,
  secretKind,
  serviceAccountKind,
  serviceKind,
  validatingAdmissionPolicyBindingKind,
  validatingAdmissionPolicyKind,
  validatingWebhookConfigurationKind,
};

/** Other versions of stored kinds. They are served, but nothing of their own is stored. */
export const VIEW_KINDS: readonly Kind[] = [eventsV1Kind as Kind];

/** All stored kinds, in the order of discovery: core first, each group by name. */
export const ALL_KINDS: readonly Kind[] = [
  configMapKind,
  endpointsKind,
  eventKind,
  limitRangeKind,
  namespaceKind,
  nodeKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  podKind,
  podTemplateKind,
  resourceQuotaKind,
  secretKind,
  serviceAccountKind,
  serviceKind,
  mutatingWebhookConfigurationKind,
  validatingAdmissionPolicyKind,
  validatingAdmissionPolicyBindingKind,
  validatingWebhookConfigurationKind,
  controllerRevisionKind,
  daemonSetKind,
  horizontalPodAutoscalerKind,
  cronJobKind,
  jobKind,
  deploymentKind,
  replicaSetKind,
  certificateSigningRequestKind,
  leaseKind,
  endpointSliceKind,
  cronDaemonJobKind,
  daemonJobKind,
  daemonJobResultKind,
  daemonSetOverrideKind,
  hostValuesKind,
  rolloutKind,
  rolloutPolicyKind,
  ingressClassKind,
  ingressKind,
  runtimeClassKind,
  podDisruptionBudgetKind,
  clusterRoleBindingKind,
  clusterRoleKind,
  roleBindingKind,
  roleKind,
  priorityClassKind,
  csiDriverKind,
  storageClassKind,
  customResourceDefinitionKind,
];
