/**
 * Protobuf messages that operators and daemons write: k8s.io/api `apps/v1`, `coordination/v1` and `core/v1`. Typed
 * clients of controller-runtime send protobuf for every kind that Kubernetes defines.
 */

/** Uses messages that are defined in protobuf-body.ts and protobuf-pod.ts. */
export const PROGRAM_DEFINITIONS = `
message RollingUpdateDaemonSet { optional IntOrString maxUnavailable = 1; optional IntOrString maxSurge = 2; }
message DaemonSetUpdateStrategy { optional string type = 1; optional RollingUpdateDaemonSet rollingUpdate = 2; }
message DaemonSetSpec {
  optional LabelSelector selector = 1; optional PodTemplateSpec template = 2; optional DaemonSetUpdateStrategy updateStrategy = 3;
  optional int32 minReadySeconds = 4; optional int32 revisionHistoryLimit = 6;
}
message DaemonSet { optional ObjectMeta metadata = 1; optional DaemonSetSpec spec = 2; }
message LeaseSpec {
  optional string holderIdentity = 1; optional int32 leaseDurationSeconds = 2; optional Time acquireTime = 3; optional Time renewTime = 4;
  optional int32 leaseTransitions = 5; optional string strategy = 6; optional string preferredHolder = 7;
}
message Lease { optional ObjectMeta metadata = 1; optional LeaseSpec spec = 2; }
message LimitRangeItem {
  optional string type = 1; map<string, Quantity> max = 2; map<string, Quantity> min = 3; map<string, Quantity> default = 4;
  map<string, Quantity> defaultRequest = 5; map<string, Quantity> maxLimitRequestRatio = 6;
}
message LimitRangeSpec { repeated LimitRangeItem limits = 1; }
message LimitRange { optional ObjectMeta metadata = 1; optional LimitRangeSpec spec = 2; }
message PersistentVolumeClaim { optional ObjectMeta metadata = 1; optional PersistentVolumeClaimSpec spec = 2; }
`;

/** Numbers that are pointers in Go's types, so that zero is a value. */
export const PROGRAM_ZEROS = ['leaseTransitions'];

/** Times with microseconds (`metav1.MicroTime`). */
export const MICRO_TIMES: ReadonlySet<string> = new Set(['acquireTime', 'renewTime']);
