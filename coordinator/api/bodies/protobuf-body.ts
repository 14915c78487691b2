/**
 * Decodes the protobuf bodies that kubectl, helm and operators send. These clients do not retry with JSON. Field
 * numbers: k8s.io/apimachinery `runtime/generated.proto`, `meta/v1/generated.proto`, k8s.io/api `*.proto`.
 */
import protobuf from 'protobufjs';
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { toTimestamp } from '../../../shared/kube/objects/meta.js';
import { JOB_DEFINITIONS, JOB_ZEROS } from './protobuf-job.js';
import { MICRO_TIMES, PROGRAM_DEFINITIONS, PROGRAM_ZEROS } from './protobuf-operator.js';
import { POD_DEFINITIONS } from './protobuf-pod.js';
import { POLICY_DEFINITIONS } from './protobuf-policy.js';
import { WORKLOAD_DEFINITIONS, WORKLOAD_ZEROS } from './protobuf-workload.js';

/** The prefix of every Kubernetes protobuf body. */
const MAGIC = Buffer.from('k8s\0', 'latin1');

const DEFINITIONS = `
syntax = "proto2";
message TypeMeta { optional string apiVersion = 1; optional string kind = 2; }
message Unknown { optional TypeMeta typeMeta = 1; optional bytes raw = 2; optional string contentEncoding = 3; optional string contentType = 4; }
message Time { optional int64 seconds = 1; optional int32 nanos = 2; }
message OwnerReference { optional string kind = 1; optional string name = 3; optional string uid = 4; optional string apiVersion = 5; optional bool controller = 6; optional bool blockOwnerDeletion = 7; }
message ObjectMeta {
  optional string name = 1; optional string generateName = 2; optional string namespace = 3; optional string uid = 5;
  optional string resourceVersion = 6; optional int64 generation = 7; optional Time creationTimestamp = 8; optional Time deletionTimestamp = 9;
  optional int64 deletionGracePeriodSeconds = 10; map<string, string> labels = 11; map<string, string> annotations = 12;
  repeated OwnerReference ownerReferences = 13; repeated string finalizers = 14;
}
message NamespaceSpec { repeated string finalizers = 1; }
message NamespaceStatus { optional string phase = 1; }
message Namespace { optional ObjectMeta metadata = 1; optional NamespaceSpec spec = 2; optional NamespaceStatus status = 3; }
message ConfigMap { optional ObjectMeta metadata = 1; map<string, string> data = 2; map<string, bytes> binaryData = 3; optional bool immutable = 4; }
message Secret { optional ObjectMeta metadata = 1; map<string, bytes> data = 2; optional string type = 3; map<string, string> stringData = 4; optional bool immutable = 5; }
message ObjectReference { optional string kind = 1; optional string namespace = 2; optional string name = 3; optional string uid = 4; optional string apiVersion = 5; optional string resourceVersion = 6; optional string fieldPath = 7; }
message LocalObjectReference { optional string name = 1; }
message ServiceAccount { optional ObjectMeta metadata = 1; repeated ObjectReference secrets = 2; repeated LocalObjectReference imagePullSecrets = 3; optional bool automountServiceAccountToken = 4; }
message IntOrString { optional int64 type = 1; optional int32 intVal = 2; optional string strVal = 3; }
message ServicePort { optional string name = 1; optional string protocol = 2; optional int32 port = 3; optional IntOrString targetPort = 4; optional int32 nodePort = 5; optional string appProtocol = 6; }
message ServiceSpec {
  repeated ServicePort ports = 1; map<string, string> selector = 2; optional string clusterIP = 3; optional string type = 4;
  repeated string externalIPs = 5; optional string sessionAffinity = 7; optional string loadBalancerIP = 8; repeated string loadBalancerSourceRanges = 9;
  optional string externalName = 10; optional string externalTrafficPolicy = 11; optional int32 healthCheckNodePort = 12; optional bool publishNotReadyAddresses = 13;
  optional SessionAffinityConfig sessionAffinityConfig = 14;
  optional string ipFamilyPolicy = 17; repeated string clusterIPs = 18; repeated string ipFamilies = 19; optional bool allocateLoadBalancerNodePorts = 20;
  optional string loadBalancerClass = 21; optional string internalTrafficPolicy = 22; optional string trafficDistribution = 23;
}
message ClientIPConfig { optional int32 timeoutSeconds = 1; }
message SessionAffinityConfig { optional ClientIPConfig clientIP = 1; }
message Service { optional ObjectMeta metadata = 1; optional ServiceSpec spec = 2; }
message EndpointAddress { optional string ip = 1; optional ObjectReference targetRef = 2; optional string hostname = 3; optional string nodeName = 4; }
message EndpointPort { optional string name = 1; optional int32 port = 2; optional string protocol = 3; optional string appProtocol = 4; }
message EndpointSubset { repeated EndpointAddress addresses = 1; repeated EndpointAddress notReadyAddresses = 2; repeated EndpointPort ports = 3; }
message Endpoints { optional ObjectMeta metadata = 1; repeated EndpointSubset subsets = 2; }
message EndpointConditions { optional bool ready = 1; optional bool serving = 2; optional bool terminating = 3; }
message ForZone { optional string name = 1; }
message ForNode { optional string name = 1; }
message EndpointHints { repeated ForZone forZones = 1; repeated ForNode forNodes = 2; }
message Endpoint {
  repeated string addresses = 1; optional EndpointConditions conditions = 2; optional string hostname = 3; optional ObjectReference targetRef = 4;
  map<string, string> deprecatedTopology = 5; optional string nodeName = 6; optional string zone = 7; optional EndpointHints hints = 8;
}
message EndpointSlicePort { optional string name = 1; optional string protocol = 2; optional int32 port = 3; optional string appProtocol = 4; }
message EndpointSlice { optional ObjectMeta metadata = 1; repeated Endpoint endpoints = 2; repeated EndpointSlicePort ports = 3; optional string addressType = 4; }
message PolicyRule { repeated string verbs = 1; repeated string apiGroups = 2; repeated string resources = 3; repeated string resourceNames = 4; repeated string nonResourceURLs = 5; }
message LabelSelectorRequirement { optional string key = 1; optional string operator = 2; repeated string values = 3; }
message LabelSelector { map<string, string> matchLabels = 1; repeated LabelSelectorRequirement matchExpressions = 2; }
message AggregationRule { repeated LabelSelector clusterRoleSelectors = 1; }
message Subject { optional string kind = 1; optional string apiGroup = 2; optional string name = 3; optional string namespace = 4; }
message RoleRef { optional string apiGroup = 1; optional string kind = 2; optional string name = 3; }
message Role { optional ObjectMeta metadata = 1; repeated PolicyRule rules = 2; }
message ClusterRole { optional ObjectMeta metadata = 1; repeated PolicyRule rules = 2; optional AggregationRule aggregationRule = 3; }
message RoleBinding { optional ObjectMeta metadata = 1; repeated Subject subjects = 2; optional RoleRef roleRef = 3; }
message ClusterRoleBinding { optional ObjectMeta metadata = 1; repeated Subject subjects = 2; optional RoleRef roleRef = 3; }
message Preconditions { optional string uid = 1; optional string resourceVersion = 2; }
message DeleteOptions { optional int64 gracePeriodSeconds = 1; optional Preconditions preconditions = 2; optional bool orphanDependents = 3; optional string propagationPolicy = 4; repeated string dryRun = 5; }
message ResourceAttributes { optional string namespace = 1; optional string verb = 2; optional string group = 3; optional string version = 4; optional string resource = 5; optional string subresource = 6; optional string name = 7; }
message NonResourceAttributes { optional string path = 1; optional string verb = 2; }
message SelfSubjectAccessReviewSpec { optional ResourceAttributes resourceAttributes = 1; optional NonResourceAttributes nonResourceAttributes = 2; }
message SelfSubjectAccessReview { optional ObjectMeta metadata = 1; optional SelfSubjectAccessReviewSpec spec = 2; }
message SelfSubjectRulesReviewSpec { optional string namespace = 1; }
message SelfSubjectRulesReview { optional ObjectMeta metadata = 1; optional SelfSubjectRulesReviewSpec spec = 2; }
message SelfSubjectReview { optional ObjectMeta metadata = 1; }
message SubjectAccessReviewSpec { optional ResourceAttributes resourceAttributes = 1; optional NonResourceAttributes nonResourceAttributes = 2; optional string user = 3; repeated string groups = 4; optional string uid = 6; }
message SubjectAccessReview { optional ObjectMeta metadata = 1; optional SubjectAccessReviewSpec spec = 2; }
message LocalSubjectAccessReview { optional ObjectMeta metadata = 1; optional SubjectAccessReviewSpec spec = 2; }
message BoundObjectReference { optional string kind = 1; optional string apiVersion = 2; optional string name = 3; optional string uid = 4; }
message TokenRequestSpec { repeated string audiences = 1; optional BoundObjectReference boundObjectRef = 3; optional int64 expirationSeconds = 4; }
message TokenRequest { optional ObjectMeta metadata = 1; optional TokenRequestSpec spec = 2; }
message TokenReviewSpec { optional string token = 1; repeated string audiences = 2; }
message TokenReview { optional ObjectMeta metadata = 1; optional TokenReviewSpec spec = 2; }
message CertificateSigningRequestSpec { optional bytes request = 1; optional string username = 2; optional string uid = 3; repeated string groups = 4; repeated string usages = 5; optional string signerName = 7; optional int32 expirationSeconds = 8; }
message CertificateSigningRequestCondition { optional string type = 1; optional string reason = 2; optional string message = 3; optional Time lastUpdateTime = 4; optional Time lastTransitionTime = 5; optional string status = 6; }
message CertificateSigningRequestStatus { repeated CertificateSigningRequestCondition conditions = 1; optional bytes certificate = 2; }
message CertificateSigningRequest { optional ObjectMeta metadata = 1; optional CertificateSigningRequestSpec spec = 2; optional CertificateSigningRequestStatus status = 3; }
message PriorityClass { optional ObjectMeta metadata = 1; optional int32 value = 2; optional bool globalDefault = 3; optional string description = 4; optional string preemptionPolicy = 5; }
`;

const messages = protobuf.parse(
  `${DEFINITIONS}${POD_DEFINITIONS}${JOB_DEFINITIONS}${POLICY_DEFINITIONS}${WORKLOAD_DEFINITIONS}${PROGRAM_DEFINITIONS}`,
  { keepCase: true },
).root;

/** Supported kinds. Others are rejected with 415. */
const KINDS = new Set([
  'CertificateSigningRequest',
  'ClusterRole',
  'ClusterRoleBinding',
  'ConfigMap',
  'CronJob',
  'DaemonSet',
  'Deployment',
  'EndpointSlice',
  'Endpoints',
  'Ingress',
  'Job',
  'Lease',
  'LimitRange',
  'Namespace',
  'PersistentVolumeClaim',
  'Pod',
  'PodDisruptionBudget',
  'PriorityClass',
  'ReplicaSet',
  'ResourceQuota',
  'Role',
  'RoleBinding',
  'Scale',
  'Secret',
  'Service',
  'ServiceAccount',
  'DeleteOptions',
  'LocalSubjectAccessReview',
  'SelfSubjectAccessReview',
  'SelfSubjectRulesReview',
  'SelfSubjectReview',
  'SubjectAccessReview',
  'TokenRequest',
  'TokenReview',
]);

/**
 * Fields whose zero is a value, because they are pointers in Go's types. For all other numbers Go writes unset fields
 * as zero.
 */
const MEANINGFUL_ZEROS = new Set([
  ...JOB_ZEROS,
  ...WORKLOAD_ZEROS,
  ...PROGRAM_ZEROS,
  'gracePeriodSeconds',
  'terminationGracePeriodSeconds',
  'activeDeadlineSeconds',
  'tolerationSeconds',
  'priority',
  'runAsUser',
  'runAsGroup',
  'fsGroup',
  'defaultMode',
  'mode',
  'minAvailable',
  'maxUnavailable',
]);
/** Booleans that Go writes even if they are unset. For all others `false` is a value. */
const OFF_IS_ABSENT = new Set([
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'stdin',
  'stdinOnce',
  'tty',
  'readOnly',
  'publishNotReadyAddresses',
  'paused',
  'globalDefault',
  'chapAuthDiscovery',
  'chapAuthSession',
  'sslEnabled',
]);
/** Embedded in Go's types: in JSON their fields belong to the parent object. */
const EMBEDDED = new Set([
  'volumeSource',
  'localObjectReference',
  'handler',
  'ephemeralContainerCommon',
  'ingressRuleValue',
]);
/** Maps with keys and values of the user. They are copied unchanged, empty values included. */
const USER_MAPS = new Set([
  'labels',
  'annotations',
  'data',
  'binaryData',
  'stringData',
  'deprecatedTopology',
  'selector',
  'matchLabels',
  'nodeSelector',
  'volumeAttributes',
  'options',
]);
const TIMES = new Set(['creationTimestamp', 'deletionTimestamp']);
/** Times that the client sets. */
const CLIENT_TIMES = new Set(['lastUpdateTime', 'lastTransitionTime']);

/** Start of the year 10000. Timestamps have four-digit years. */
const LAST_SECOND = 253_402_300_800;

function decode(name: string, bytes: Uint8Array): Record<string, unknown> {
  const type = messages.lookupType(name);
  return type.toObject(type.decode(bytes), { longs: Number, bytes: String, objects: false });
}

/**
 * Removes the empty strings and zero times that Go writes explicitly; otherwise a stored object would have the uid ""
 * and a creation time in 1970. Also removes the times that the server sets itself.
 */
function withoutZeros(message: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(message).flatMap(([name, value]): [string, unknown][] => {
    if (TIMES.has(name)) return [];
    if (USER_MAPS.has(name)) return [[name, value]];
    if (value === '' || (value === 0 && !MEANINGFUL_ZEROS.has(name))) return [];
    if (value === false && OFF_IS_ABSENT.has(name)) return [];
    if (EMBEDDED.has(name) && isMessage(value)) return Object.entries(withoutZeros(value));
    const kept = shownValue(name, value);
    // A number of 0 is not encoded, but the message is there.
    if (kept === undefined && isIntOrString(value) && MEANINGFUL_ZEROS.has(name)) return [[name, 0]];
    return kept === undefined ? [] : [[name, kept]];
  });
  return Object.fromEntries(fields);
}

function shownValue(name: string, value: unknown): unknown {
  if (MICRO_TIMES.has(name)) return microTimestampOf(value);
  return CLIENT_TIMES.has(name) ? timestampOf(value) : cleaned(value);
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned);
  if (isIntOrString(value)) return value.type === TEXT ? value.strVal : value.intVal || undefined;
  if (isQuantity(value)) return value.string;
  return isMessage(value) ? withoutZeros(value) : value;
}

/** Returns undefined for Go's zero time. */
function timestampOf(value: unknown): string | undefined {
  const seconds = isMessage(value) ? Number(value.seconds ?? 0) : 0;
  return seconds > 0 && seconds < LAST_SECOND ? toTimestamp(seconds * 1000) : undefined;
}

/** Returns the time as Go encodes a MicroTime, always with six digits. */
function microTimestampOf(value: unknown): string | undefined {
  const text = timestampOf(value);
  const nanos = isMessage(value) ? Number(value.nanos ?? 0) : 0;
  const micros = String(Math.trunc(nanos / 1000)).padStart(6, '0');
  return text?.replace('Z', `.${micros}Z`);
}

function isQuantity(value: unknown): value is { string: string } {
  return isMessage(value) && typeof value.string === 'string';
}

/** The value of `IntOrString.type` for a string. */
const TEXT = 1;

function isIntOrString(value: unknown): value is { type?: number; intVal?: number; strVal?: string } {
  return isMessage(value) && 'strVal' in value;
}

function isMessage(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns the object of a protobuf body with apiVersion and kind, as in JSON. Throws 400 for a malformed body, 415 for
 * other kinds.
 */
export function decodeProtobuf(body: Buffer): Record<string, unknown> {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw badRequest('the body of the request is not Kubernetes protobuf: its prefix is missing');
  }
  try {
    const { typeMeta, raw } = envelopeOf(body.subarray(MAGIC.length));
    if (!KINDS.has(typeMeta.kind)) throw unreadable(typeMeta.kind);
    return {
      apiVersion: typeMeta.apiVersion,
      kind: typeMeta.kind,
      ...withoutZeros(decode(typeMeta.kind, raw)),
    };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(`the body of the request is not valid protobuf: ${why}`);
  }
}

function envelopeOf(bytes: Uint8Array): { typeMeta: { apiVersion: string; kind: string }; raw: Uint8Array } {
  const envelope = messages.lookupType('Unknown').decode(bytes).toJSON();
  const { apiVersion = '', kind = '' } = { ...envelope.typeMeta };
  return { typeMeta: { apiVersion, kind }, raw: Buffer.from(envelope.raw ?? '', 'base64') };
}

function unreadable(kind: string): ApiError {
  return new ApiError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - ${kind || 'this kind'} is read as application/json or application/yaml, not as protobuf`,
  );
}
