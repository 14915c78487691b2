/** Protobuf messages of apps/v1 (k8s.io/api `apps/v1/generated.proto`). `kubectl create deployment` sends them. */
export const WORKLOAD_DEFINITIONS = `
message RollingUpdateDeployment { optional IntOrString maxUnavailable = 1; optional IntOrString maxSurge = 2; }
message DeploymentStrategy { optional string type = 1; optional RollingUpdateDeployment rollingUpdate = 2; }
message DeploymentSpec {
  optional int32 replicas = 1; optional LabelSelector selector = 2; optional PodTemplateSpec template = 3; optional DeploymentStrategy strategy = 4;
  optional int32 minReadySeconds = 5; optional int32 revisionHistoryLimit = 6; optional bool paused = 7; optional int32 progressDeadlineSeconds = 9;
}
message Deployment { optional ObjectMeta metadata = 1; optional DeploymentSpec spec = 2; }
message ReplicaSetSpec { optional int32 replicas = 1; optional LabelSelector selector = 2; optional PodTemplateSpec template = 3; optional int32 minReadySeconds = 4; }
message ReplicaSet { optional ObjectMeta metadata = 1; optional ReplicaSetSpec spec = 2; }
message ScaleSpec { optional int32 replicas = 1; }
message Scale { optional ObjectMeta metadata = 1; optional ScaleSpec spec = 2; }
`;

/** Numbers that are pointers in Go's types, so that zero is a value. */
export const WORKLOAD_ZEROS = ['replicas', 'revisionHistoryLimit', 'progressDeadlineSeconds', 'maxSurge'];
