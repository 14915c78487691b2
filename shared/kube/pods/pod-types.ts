/** The v1 Pod. Declares only the fields that this program reads; all others are preserved. */
import type { Condition } from '../objects/conditions.js';
import type { KubeObject, ObjectMeta, Timestamp } from '../objects/meta.js';
import type { Quantity } from '../objects/quantity.js';
import type { Affinity, Toleration, TopologySpreadConstraint } from './pod-placement-types.js';
import type { Lifecycle, Probe } from './probe-types.js';
import type {
  ObjectFieldSelector,
  ResourceFieldSelector,
  Volume,
  VolumeDevice,
  VolumeMount,
} from './volume-types.js';

export type { EmptyDirVolumeSource, HostPathVolumeSource, Volume, VolumeMount } from './volume-types.js';

export interface ContainerPort {
  name?: string;
  containerPort: number;
  hostPort?: number;
  hostIP?: string;
  protocol?: string;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: EnvVarSource;
}

/** One key of a ConfigMap or Secret. */
export interface KeySelector {
  name?: string;
  key: string;
  optional?: boolean;
}

/** Exactly one field is set. */
export interface EnvVarSource {
  fieldRef?: ObjectFieldSelector;
  resourceFieldRef?: ResourceFieldSelector;
  configMapKeyRef?: KeySelector;
  secretKeyRef?: KeySelector;
  fileKeyRef?: Record<string, unknown>;
}

/** All keys of a ConfigMap or Secret; exactly one of the two is set. */
export interface EnvFromSource {
  prefix?: string;
  configMapRef?: { name?: string; optional?: boolean };
  secretRef?: { name?: string; optional?: boolean };
}

export type ResourceList = Record<string, Quantity>;

export interface ResourceRequirements {
  limits?: ResourceList;
  requests?: ResourceList;
}

export interface ContainerSecurityContext {
  privileged?: boolean;
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  readOnlyRootFilesystem?: boolean;
  allowPrivilegeEscalation?: boolean;
  capabilities?: { add?: string[]; drop?: string[] };
  procMount?: string;
  seccompProfile?: LocalProfile;
  appArmorProfile?: LocalProfile;
  seLinuxOptions?: Record<string, string>;
  windowsOptions?: Record<string, unknown>;
}

/** A seccomp or AppArmor profile: `RuntimeDefault`, `Unconfined`, or `Localhost` with its name. */
export interface LocalProfile {
  type?: string;
  localhostProfile?: string;
}

export interface PodSecurityContext {
  runAsUser?: number;
  runAsGroup?: number;
  runAsNonRoot?: boolean;
  fsGroup?: number;
  fsGroupChangePolicy?: string;
  supplementalGroups?: number[];
  supplementalGroupsPolicy?: string;
  sysctls?: { name: string; value: string }[];
  seccompProfile?: LocalProfile;
  appArmorProfile?: LocalProfile;
  seLinuxOptions?: Record<string, string>;
  windowsOptions?: Record<string, unknown>;
}

export interface PodDNSConfig {
  nameservers?: string[];
  searches?: string[];
  options?: { name?: string; value?: string }[];
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  workingDir?: string;
  ports?: ContainerPort[];
  env?: EnvVar[];
  envFrom?: EnvFromSource[];
  resources?: ResourceRequirements;
  volumeMounts?: VolumeMount[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  startupProbe?: Probe;
  lifecycle?: Lifecycle;
  volumeDevices?: VolumeDevice[];
  terminationMessagePath?: string;
  terminationMessagePolicy?: string;
  imagePullPolicy?: string;
  restartPolicy?: string;
  securityContext?: ContainerSecurityContext;
  stdin?: boolean;
  stdinOnce?: boolean;
  tty?: boolean;
}

/** A container that is added to a running Pod, to find errors in it. It is never restarted. */
export interface EphemeralContainer extends Container {
  /** The container whose process namespace it shares. */
  targetContainerName?: string;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  ephemeralContainers?: EphemeralContainer[];
  volumes?: Volume[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  activeDeadlineSeconds?: number;
  dnsPolicy?: string;
  nodeSelector?: Record<string, string>;
  nodeName?: string;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  /** False: the containers run in a user namespace of their own. */
  hostUsers?: boolean;
  hostname?: string;
  affinity?: Affinity;
  tolerations?: Toleration[];
  schedulerName?: string;
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  priorityClassName?: string;
  priority?: number;
  /** Deprecated name of serviceAccountName. The server keeps both equal. */
  serviceAccount?: string;
  preemptionPolicy?: string;
  runtimeClassName?: string;
  shareProcessNamespace?: boolean;
  setHostnameAsFQDN?: boolean;
  enableServiceLinks?: boolean;
  subdomain?: string;
  dnsConfig?: PodDNSConfig;
  hostAliases?: { ip: string; hostnames?: string[] }[];
  readinessGates?: { conditionType: string }[];
  schedulingGates?: { name: string }[];
  topologySpreadConstraints?: TopologySpreadConstraint[];
  os?: { name: string };
  securityContext?: PodSecurityContext;
  overhead?: ResourceList;
  imagePullSecrets?: { name?: string }[];
}

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface ContainerStateWaiting {
  reason?: string;
  message?: string;
}

export interface ContainerStateRunning {
  startedAt?: Timestamp | null;
}

export interface ContainerStateTerminated {
  exitCode: number;
  signal?: number;
  reason?: string;
  message?: string;
  startedAt?: Timestamp | null;
  finishedAt?: Timestamp | null;
  containerID?: string;
}

/** At most one field is set. No field means waiting without a reason, like upstream. */
export interface ContainerState {
  waiting?: ContainerStateWaiting;
  running?: ContainerStateRunning;
  terminated?: ContainerStateTerminated;
}

export interface ContainerStatus {
  name: string;
  state?: ContainerState;
  lastState?: ContainerState;
  ready: boolean;
  restartCount: number;
  image: string;
  imageID: string;
  containerID?: string;
  started?: boolean;
}

export interface PodStatus {
  phase?: PodPhase;
  conditions?: Condition[];
  message?: string;
  reason?: string;
  nominatedNodeName?: string;
  hostIP?: string;
  hostIPs?: { ip: string }[];
  podIP?: string;
  podIPs?: { ip: string }[];
  startTime?: Timestamp | null;
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
  ephemeralContainerStatuses?: ContainerStatus[];
  qosClass?: string;
  observedGeneration?: number;
}

export interface PodTemplateSpec {
  metadata?: Partial<ObjectMeta>;
  spec: PodSpec;
}

export interface Pod extends KubeObject {
  spec: PodSpec;
  status?: PodStatus;
}

/** Returns true for a Pod whose containers have all terminated permanently (Succeeded or Failed). */
export function isPodTerminal(pod: Pick<Pod, 'status'>): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Returns the Pod's node, or the one that its affinity names (pkg/controller/daemon/util GetTargetNodeName). */
export function targetNodeOf(pod: Pick<Pod, 'spec'>): string | undefined {
  if (pod.spec.nodeName) return pod.spec.nodeName;
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const pin = (required?.nodeSelectorTerms ?? [])
    .flatMap((term) => term.matchFields ?? [])
    .find((field) => field.key === 'metadata.name' && field.operator === 'In');
  return pin?.values?.length === 1 ? pin.values[0] : undefined;
}
