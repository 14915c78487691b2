/**
 * Properties of upstream's lists and maps that no npm package contains: patch strategies, list types and map types.
 * Source: struct tags and +listType markers of k8s.io/api and k8s.io/apimachinery.
 */

/** Type.field → how a strategic merge patch merges the list. Every other list is replaced. */
export const MERGE_KEYS = {
  'ObjectMeta.ownerReferences': 'uid',
  'PodSpec.containers': 'name',
  'PodSpec.initContainers': 'name',
  'PodSpec.ephemeralContainers': 'name',
  'PodSpec.volumes': 'name',
  'PodSpec.imagePullSecrets': 'name',
  'PodSpec.hostAliases': 'ip',
  'PodSpec.topologySpreadConstraints': 'topologyKey',
  'PodSpec.schedulingGates': 'name',
  'PodSpec.resourceClaims': 'name',
  'Container.env': 'name',
  'Container.ports': 'containerPort',
  'Container.volumeMounts': 'mountPath',
  'Container.volumeDevices': 'devicePath',
  'EphemeralContainer.env': 'name',
  'EphemeralContainer.ports': 'containerPort',
  'EphemeralContainer.volumeMounts': 'mountPath',
  'EphemeralContainer.volumeDevices': 'devicePath',
  'PodStatus.conditions': 'type',
  'PodStatus.podIPs': 'ip',
  'PodStatus.hostIPs': 'ip',
  'PodStatus.resourceClaimStatuses': 'name',
  'ContainerStatus.volumeMounts': 'mountPath',
  'NodeStatus.addresses': 'type',
  'NodeStatus.conditions': 'type',
  'NamespaceStatus.conditions': 'type',
  'DaemonSetStatus.conditions': 'type',
  'JobStatus.conditions': 'type',
  'DeploymentStatus.conditions': 'type',
  'ReplicaSetStatus.conditions': 'type',
  'ServiceSpec.ports': 'port',
  'ServiceStatus.conditions': 'type',
  'ServiceAccount.secrets': 'name',
  'PodDisruptionBudgetStatus.conditions': 'type',
  'PersistentVolumeClaimStatus.conditions': 'type',
  'ValidatingAdmissionPolicySpec.matchConditions': 'name',
  'ValidatingAdmissionPolicySpec.variables': 'name',
  'MutatingWebhookConfiguration.webhooks': 'name',
  'MutatingWebhook.matchConditions': 'name',
  'ValidatingWebhookConfiguration.webhooks': 'name',
  'ValidatingWebhook.matchConditions': 'name',
};

/** Merged lists ("merge,retainKeys") and structs ("retainKeys") whose patch also names the members to keep. */
export const RETAIN_KEYS = new Set([
  'DeploymentSpec.strategy',
  'PodSpec.volumes',
  'PodSpec.resourceClaims',
  'PodStatus.resourceClaimStatuses',
]);

/** Lists of plain values that are merged as sets. */
export const MERGED_SETS = new Set(['ObjectMeta.finalizers', 'NodeSpec.podCIDRs']);

/** Keys of server-side apply where they differ from the merge key, or where there is no merge key. */
export const LIST_MAP_KEYS = {
  'HorizontalPodAutoscalerStatus.conditions': ['type'],
  'ResourceRequirements.claims': ['name'],
  'CertificateSigningRequestStatus.conditions': ['type'],
  'CustomResourceDefinitionStatus.conditions': ['type'],
  'JSONSchemaProps.x-kubernetes-validations': ['rule'],
  'ValidatingAdmissionPolicyStatus.conditions': ['type'],
  'ServiceSpec.ports': ['port', 'protocol'],
  'Container.ports': ['containerPort', 'protocol'],
  'EphemeralContainer.ports': ['containerPort', 'protocol'],
  'PodSpec.topologySpreadConstraints': ['topologyKey', 'whenUnsatisfiable'],
};

/** Structs that server-side apply owns as a whole. */
export const ATOMIC_TYPES = new Set([
  'ScopeSelector',
  'TopologySelectorTerm',
  'ConfigMapKeySelector',
  'LabelSelector',
  'LocalObjectReference',
  'MatchResources',
  'NamedRuleWithOperations',
  'ParamKind',
  'ParamRef',
  'NodeSelector',
  'NodeSelectorTerm',
  'ObjectFieldSelector',
  'ObjectReference',
  'OwnerReference',
  'ResourceFieldSelector',
  'RoleRef',
  'SecretKeySelector',
  'SecretReference',
  'Subject',
  'TypedLocalObjectReference',
]);

/** Type.field of maps that server-side apply owns as a whole. */
export const ATOMIC_MAPS = new Set(['PodSpec.nodeSelector', 'ServiceSpec.selector']);

/** Type.field → its default, for fields in a list's key. */
export const KEY_DEFAULTS = { 'ContainerPort.protocol': 'TCP', 'ServicePort.protocol': 'TCP' };

/** Type.field → a quantity (or a map of quantities) that the models declare as text. */
export const QUANTITIES = new Set([
  'LimitRangeItem.default',
  'LimitRangeItem.defaultRequest',
  'LimitRangeItem.max',
  'LimitRangeItem.maxLimitRequestRatio',
  'LimitRangeItem.min',
  'MetricTarget.averageValue',
  'MetricTarget.value',
  'MetricValueStatus.averageValue',
  'MetricValueStatus.value',
  'Overhead.podFixed',
  'PersistentVolumeClaimStatus.allocatedResources',
  'PersistentVolumeClaimStatus.capacity',
  'PersistentVolumeSpec.capacity',
  'ResourceQuotaSpec.hard',
  'ResourceQuotaStatus.hard',
  'ResourceQuotaStatus.used',
  'ContainerStatus.allocatedResources',
  'EmptyDirVolumeSource.sizeLimit',
  'NodeStatus.allocatable',
  'NodeStatus.capacity',
  'PodSpec.overhead',
  'PodStatus.allocatedResources',
  'ResourceFieldSelector.divisor',
  'ResourceRequirements.limits',
  'ResourceRequirements.requests',
  'VolumeResourceRequirements.limits',
  'VolumeResourceRequirements.requests',
]);
