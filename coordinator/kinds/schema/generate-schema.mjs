/**
 * Writes definitions.json: the OpenAPI schemas of all types that the served kinds use. Names, types and formats come
 * from the models of @kubernetes/client-node (a devDependency), optional fields from its .d.ts files, and the rest from
 * merge-rules.mjs. Run `npm run generate:schema` and commit the result.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  ATOMIC_MAPS,
  ATOMIC_TYPES,
  KEY_DEFAULTS,
  LIST_MAP_KEYS,
  MERGE_KEYS,
  MERGED_SETS,
  QUANTITIES,
  RETAIN_KEYS,
} from './merge-rules.mjs';

const require = createRequire(import.meta.url);
const MODELS = join(dirname(require.resolve('@kubernetes/client-node')), 'gen/models');
const OUTPUT = join(dirname(fileURLToPath(import.meta.url)), 'definitions.json');

const CORE = 'io.k8s.api.core.v1';
const APPS = 'io.k8s.api.apps.v1';
const BATCH = 'io.k8s.api.batch.v1';
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const SCALES = 'io.k8s.api.autoscaling.v1';
const RBAC = 'io.k8s.api.rbac.v1';
const DISCOVERY = 'io.k8s.api.discovery.v1';
const EVENTS = 'io.k8s.api.events.v1';
const CERTIFICATES = 'io.k8s.api.certificates.v1';
const POLICY = 'io.k8s.api.policy.v1';
const NETWORKING = 'io.k8s.api.networking.v1';
const STORAGE = 'io.k8s.api.storage.v1';
const NODE = 'io.k8s.api.node.v1';
const AUTOSCALING = 'io.k8s.api.autoscaling.v2';
const EXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const ADMISSION = 'io.k8s.api.admissionregistration.v1';

/** Models whose name does not show their package. All others are core/v1. */
const PACKAGES = {
  ApiextensionsV1ServiceReference: EXTENSIONS,
  ApiextensionsV1WebhookClientConfig: EXTENSIONS,
  V1CustomResourceColumnDefinition: EXTENSIONS,
  V1CustomResourceConversion: EXTENSIONS,
  V1CustomResourceDefinition: EXTENSIONS,
  V1CustomResourceDefinitionCondition: EXTENSIONS,
  V1CustomResourceDefinitionNames: EXTENSIONS,
  V1CustomResourceDefinitionSpec: EXTENSIONS,
  V1CustomResourceDefinitionStatus: EXTENSIONS,
  V1CustomResourceDefinitionVersion: EXTENSIONS,
  V1CustomResourceSubresourceScale: EXTENSIONS,
  V1CustomResourceSubresources: EXTENSIONS,
  V1CustomResourceValidation: EXTENSIONS,
  V1ExternalDocumentation: EXTENSIONS,
  V1JSONSchemaProps: EXTENSIONS,
  V1SelectableField: EXTENSIONS,
  V1ValidationRule: EXTENSIONS,
  V1WebhookConversion: EXTENSIONS,
  AdmissionregistrationV1ServiceReference: ADMISSION,
  AdmissionregistrationV1WebhookClientConfig: ADMISSION,
  V1AuditAnnotation: ADMISSION,
  V1ExpressionWarning: ADMISSION,
  V1MatchCondition: ADMISSION,
  V1MatchResources: ADMISSION,
  V1MutatingWebhook: ADMISSION,
  V1MutatingWebhookConfiguration: ADMISSION,
  V1NamedRuleWithOperations: ADMISSION,
  V1ParamKind: ADMISSION,
  V1ParamRef: ADMISSION,
  V1RuleWithOperations: ADMISSION,
  V1TypeChecking: ADMISSION,
  V1ValidatingAdmissionPolicy: ADMISSION,
  V1ValidatingAdmissionPolicyBinding: ADMISSION,
  V1ValidatingAdmissionPolicyBindingSpec: ADMISSION,
  V1ValidatingAdmissionPolicySpec: ADMISSION,
  V1ValidatingAdmissionPolicyStatus: ADMISSION,
  V1ValidatingWebhook: ADMISSION,
  V1ValidatingWebhookConfiguration: ADMISSION,
  V1Validation: ADMISSION,
  V1Variable: ADMISSION,
  V1CertificateSigningRequest: CERTIFICATES,
  V1CertificateSigningRequestCondition: CERTIFICATES,
  V1CertificateSigningRequestSpec: CERTIFICATES,
  V1CertificateSigningRequestStatus: CERTIFICATES,
  V1CronJob: BATCH,
  V1CronJobSpec: BATCH,
  V1CronJobStatus: BATCH,
  V1Job: BATCH,
  V1JobCondition: BATCH,
  V1JobSpec: BATCH,
  V1JobStatus: BATCH,
  V1JobTemplateSpec: BATCH,
  V1PodFailurePolicy: BATCH,
  V1PodFailurePolicyOnExitCodesRequirement: BATCH,
  V1PodFailurePolicyOnPodConditionsPattern: BATCH,
  V1PodFailurePolicyRule: BATCH,
  V1SuccessPolicy: BATCH,
  V1SuccessPolicyRule: BATCH,
  V1UncountedTerminatedPods: BATCH,
  V1ControllerRevision: APPS,
  V1DaemonSet: APPS,
  V1DaemonSetCondition: APPS,
  V1DaemonSetSpec: APPS,
  V1DaemonSetStatus: APPS,
  V1DaemonSetUpdateStrategy: APPS,
  V1RollingUpdateDaemonSet: APPS,
  V1Deployment: APPS,
  V1DeploymentCondition: APPS,
  V1DeploymentSpec: APPS,
  V1DeploymentStatus: APPS,
  V1DeploymentStrategy: APPS,
  V1RollingUpdateDeployment: APPS,
  V1ReplicaSet: APPS,
  V1ReplicaSetCondition: APPS,
  V1ReplicaSetSpec: APPS,
  V1ReplicaSetStatus: APPS,
  V1Scale: SCALES,
  V1ScaleSpec: SCALES,
  V1ScaleStatus: SCALES,
  V1Condition: META,
  V1DeleteOptions: META,
  V1LabelSelector: META,
  V1LabelSelectorRequirement: META,
  V1ListMeta: META,
  V1ManagedFieldsEntry: META,
  V1ObjectMeta: META,
  V1OwnerReference: META,
  V1Preconditions: META,
  V1Status: META,
  V1StatusCause: META,
  V1StatusDetails: META,
  DiscoveryV1EndpointPort: DISCOVERY,
  V1Endpoint: DISCOVERY,
  V1EndpointConditions: DISCOVERY,
  V1EndpointHints: DISCOVERY,
  V1EndpointSlice: DISCOVERY,
  V1ForNode: DISCOVERY,
  V1ForZone: DISCOVERY,
  EventsV1Event: EVENTS,
  EventsV1EventSeries: EVENTS,
  V1Lease: 'io.k8s.api.coordination.v1',
  V1LeaseSpec: 'io.k8s.api.coordination.v1',
  V1Eviction: POLICY,
  V1PodDisruptionBudget: POLICY,
  V1PodDisruptionBudgetSpec: POLICY,
  V1PodDisruptionBudgetStatus: POLICY,
  V1HTTPIngressPath: NETWORKING,
  V1HTTPIngressRuleValue: NETWORKING,
  V1Ingress: NETWORKING,
  V1IngressBackend: NETWORKING,
  V1IngressClass: NETWORKING,
  V1IngressClassParametersReference: NETWORKING,
  V1IngressClassSpec: NETWORKING,
  V1IngressLoadBalancerIngress: NETWORKING,
  V1IngressLoadBalancerStatus: NETWORKING,
  V1IngressPortStatus: NETWORKING,
  V1IngressRule: NETWORKING,
  V1IngressServiceBackend: NETWORKING,
  V1IngressSpec: NETWORKING,
  V1IngressStatus: NETWORKING,
  V1IngressTLS: NETWORKING,
  V1ServiceBackendPort: NETWORKING,
  V1CSIDriver: STORAGE,
  V1CSIDriverSpec: STORAGE,
  StorageV1TokenRequest: STORAGE,
  V1StorageClass: STORAGE,
  V1Overhead: NODE,
  V1RuntimeClass: NODE,
  V1Scheduling: NODE,
  V1PriorityClass: 'io.k8s.api.scheduling.v1',
  RbacV1Subject: RBAC,
  V1AggregationRule: RBAC,
  V1ClusterRole: RBAC,
  V1ClusterRoleBinding: RBAC,
  V1PolicyRule: RBAC,
  V1Role: RBAC,
  V1RoleBinding: RBAC,
  V1RoleRef: RBAC,
};

/** The first types of the traversal, with group, version and kind. */
const ROOTS = {
  CoreV1Event: ['', 'v1', 'Event'],
  EventsV1Event: ['events.k8s.io', 'v1', 'Event'],
  V1Binding: ['', 'v1', 'Binding'],
  V1CertificateSigningRequest: ['certificates.k8s.io', 'v1', 'CertificateSigningRequest'],
  V1ClusterRole: ['rbac.authorization.k8s.io', 'v1', 'ClusterRole'],
  V1ClusterRoleBinding: ['rbac.authorization.k8s.io', 'v1', 'ClusterRoleBinding'],
  V1ConfigMap: ['', 'v1', 'ConfigMap'],
  V1CustomResourceDefinition: ['apiextensions.k8s.io', 'v1', 'CustomResourceDefinition'],
  V1ControllerRevision: ['apps', 'v1', 'ControllerRevision'],
  V1CronJob: ['batch', 'v1', 'CronJob'],
  V1DaemonSet: ['apps', 'v1', 'DaemonSet'],
  V1DeleteOptions: ['', 'v1', 'DeleteOptions'],
  V1Deployment: ['apps', 'v1', 'Deployment'],
  V1EndpointSlice: ['discovery.k8s.io', 'v1', 'EndpointSlice'],
  V1Endpoints: ['', 'v1', 'Endpoints'],
  V1CSIDriver: ['storage.k8s.io', 'v1', 'CSIDriver'],
  V1Ingress: ['networking.k8s.io', 'v1', 'Ingress'],
  V1IngressClass: ['networking.k8s.io', 'v1', 'IngressClass'],
  V1LimitRange: ['', 'v1', 'LimitRange'],
  V1PersistentVolume: ['', 'v1', 'PersistentVolume'],
  V1PersistentVolumeClaim: ['', 'v1', 'PersistentVolumeClaim'],
  V1PodDisruptionBudget: ['policy', 'v1', 'PodDisruptionBudget'],
  V1PodTemplate: ['', 'v1', 'PodTemplate'],
  V1ResourceQuota: ['', 'v1', 'ResourceQuota'],
  V1RuntimeClass: ['node.k8s.io', 'v1', 'RuntimeClass'],
  V1StorageClass: ['storage.k8s.io', 'v1', 'StorageClass'],
  V2HorizontalPodAutoscaler: ['autoscaling', 'v2', 'HorizontalPodAutoscaler'],
  V1Eviction: ['policy', 'v1', 'Eviction'],
  V1Job: ['batch', 'v1', 'Job'],
  V1Lease: ['coordination.k8s.io', 'v1', 'Lease'],
  V1MutatingWebhookConfiguration: ['admissionregistration.k8s.io', 'v1', 'MutatingWebhookConfiguration'],
  V1Namespace: ['', 'v1', 'Namespace'],
  V1Node: ['', 'v1', 'Node'],
  V1Pod: ['', 'v1', 'Pod'],
  V1PriorityClass: ['scheduling.k8s.io', 'v1', 'PriorityClass'],
  V1ReplicaSet: ['apps', 'v1', 'ReplicaSet'],
  V1Role: ['rbac.authorization.k8s.io', 'v1', 'Role'],
  V1RoleBinding: ['rbac.authorization.k8s.io', 'v1', 'RoleBinding'],
  V1Scale: ['autoscaling', 'v1', 'Scale'],
  V1Secret: ['', 'v1', 'Secret'],
  V1Service: ['', 'v1', 'Service'],
  V1ServiceAccount: ['', 'v1', 'ServiceAccount'],
  V1Status: ['', 'v1', 'Status'],
  V1ValidatingAdmissionPolicy: ['admissionregistration.k8s.io', 'v1', 'ValidatingAdmissionPolicy'],
  V1ValidatingAdmissionPolicyBinding: [
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingAdmissionPolicyBinding',
  ],
  V1ValidatingWebhookConfiguration: ['admissionregistration.k8s.io', 'v1', 'ValidatingWebhookConfiguration'],
};

/** Types that are not structs. */
const SCALARS = {
  [`${META}.Time`]: { type: 'string', format: 'date-time' },
  [`${META}.MicroTime`]: { type: 'string', format: 'date-time' },
  [`${META}.FieldsV1`]: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { oneOf: [{ type: 'string' }, { type: 'number' }] },
  'io.k8s.apimachinery.pkg.runtime.RawExtension': {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
  },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': {
    format: 'int-or-string',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  },
};

const reference = (name) => ({ $ref: `#/components/schemas/${name}` });
const QUANTITY = reference('io.k8s.apimachinery.pkg.api.resource.Quantity');

/** Returns `Event` for `CoreV1Event` and `Pod` for `V1Pod`. */
function typeName(model) {
  return model.replace(
    /^(AdmissionregistrationV1|ApiextensionsV1|CoreV1|EventsV1|RbacV1|StorageV1|V1|V2)/,
    '',
  );
}

function definitionName(model) {
  const group = model.startsWith('V2') ? AUTOSCALING : CORE;
  return `${PACKAGES[model] ?? group}.${typeName(model)}`;
}

function scalarOf(type, format) {
  if (type === 'Date') return reference(`${META}.Time`);
  if (type === 'V1MicroTime') return reference(`${META}.MicroTime`);
  if (type === 'IntOrString') return reference('io.k8s.apimachinery.pkg.util.intstr.IntOrString');
  if (type === 'number') {
    return { type: format === 'double' ? 'number' : 'integer', ...(format ? { format } : {}) };
  }
  if (type === 'string') return { type: 'string', ...(format ? { format } : {}) };
  if (type === 'boolean') return { type: 'boolean' };
  if (type === 'any') return reference('io.k8s.apimachinery.pkg.runtime.RawExtension');
  return undefined;
}

/** Returns the schema of a TypeScript type in a model; calls `reach` for each model that it names. */
function schemaOf(type, format, reach) {
  const list = /^Array<(.*)>$/.exec(type);
  if (list) return { type: 'array', items: schemaOf(list[1], format, reach) };
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map) return { type: 'object', additionalProperties: schemaOf(map[1], format, reach) };
  const scalar = scalarOf(type, format);
  if (scalar) return scalar;
  reach(type);
  return reference(definitionName(type));
}

function listRules(path) {
  if (MERGED_SETS.has(path)) {
    return { 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' };
  }
  const key = MERGE_KEYS[path];
  const mapKeys = LIST_MAP_KEYS[path] ?? (key ? [key] : undefined);
  if (!mapKeys) return { 'x-kubernetes-list-type': 'atomic' };
  const listMap = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': mapKeys };
  if (!key) return listMap;
  return {
    ...listMap,
    'x-kubernetes-patch-merge-key': key,
    'x-kubernetes-patch-strategy': RETAIN_KEYS.has(path) ? 'merge,retainKeys' : 'merge',
  };
}

function fieldSchema(path, { type, format }, reach) {
  const schema = schemaOf(type, format, reach);
  if (QUANTITIES.has(path)) {
    return schema.type === 'object' ? { ...schema, additionalProperties: QUANTITY } : QUANTITY;
  }
  if (ATOMIC_MAPS.has(path)) return { ...schema, 'x-kubernetes-map-type': 'atomic' };
  if (Object.hasOwn(KEY_DEFAULTS, path)) return { ...schema, default: KEY_DEFAULTS[path] };
  if (path === 'ManagedFieldsEntry.fieldsV1') return reference(`${META}.FieldsV1`);
  if (schema.type === 'array') return { ...schema, ...listRules(path) };
  return RETAIN_KEYS.has(path) ? { ...schema, 'x-kubernetes-patch-strategy': 'retainKeys' } : schema;
}

/** Returns the fields that the declaration does not mark with `?`. */
function requiredFields(model) {
  const declaration = readFileSync(join(MODELS, `${model}.d.ts`), 'utf8');
  return [...declaration.matchAll(/^ {4}'(\w+|\$\w+)': /gm)].map((match) => match[1]);
}

async function definition(model, reach) {
  const module = await import(pathToFileURL(join(MODELS, `${model}.js`)).href);
  const name = typeName(model);
  const required = requiredFields(model);
  const fields = module[model].getAttributeTypeMap();
  const properties = fields.map((field) => [
    field.baseName,
    fieldSchema(`${name}.${field.baseName}`, field, reach),
  ]);
  const [group, version, kind] = ROOTS[model] ?? [];
  return {
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(properties),
    ...(ATOMIC_TYPES.has(name) ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    ...(kind ? { 'x-kubernetes-group-version-kind': [{ group, kind, version }] } : {}),
  };
}

const definitions = { ...SCALARS };
const waiting = Object.keys(ROOTS);
const seen = new Set(waiting);
const reach = (model) => {
  if (seen.has(model)) return;
  seen.add(model);
  waiting.push(model);
};
for (let model = waiting.pop(); model; model = waiting.pop()) {
  definitions[definitionName(model)] = await definition(model, reach);
}
const lines = Object.keys(definitions)
  .sort()
  .map((name) => `${JSON.stringify(name)}: ${JSON.stringify(definitions[name])}`);
writeFileSync(OUTPUT, `{\n${lines.join(',\n')}\n}\n`);
process.stdout.write(`${lines.length} definitions in ${OUTPUT}\n`);
