/**
 * Which fields of a PodSpec are acted on today. Everything else is valid, is stored, and is named in a warning:
 * nothing is ignored in silence. Each field of the schema stands here, so that a new one is decided upon: a test
 * compares the two. Who teaches the agent a field takes it out of `none`.
 */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';

/**
 * `all`: the field and everything under it works. A list: these values work (the default among them); empty: none does.
 * A map: an object (or each element of a list) of which these fields work.
 */
export type Support = 'all' | readonly unknown[] | { readonly [field: string]: Support };

/** Fields without any effect yet. */
function none(...fields: string[]): { readonly [field: string]: Support } {
  return Object.fromEntries(fields.map((field) => [field, []]));
}

const RESOURCES: Support = { cpu: 'all', memory: 'all', 'ephemeral-storage': 'all' };

/** The API still takes tcpSocket here; it has never been run. */
const HOOK: Support = { exec: 'all', httpGet: 'all', sleep: 'all', ...none('tcpSocket') };

const CONTAINER: Record<string, Support> = {
  name: 'all',
  image: 'all',
  imagePullPolicy: 'all',
  command: 'all',
  args: 'all',
  workingDir: 'all',
  ports: 'all',
  env: {
    name: 'all',
    value: 'all',
    valueFrom: {
      fieldRef: 'all',
      resourceFieldRef: 'all',
      configMapKeyRef: 'all',
      secretKeyRef: 'all',
      ...none('fileKeyRef'),
    },
  },
  envFrom: 'all',
  resources: { limits: RESOURCES, requests: RESOURCES, ...none('claims') },
  securityContext: {
    privileged: 'all',
    capabilities: 'all',
    runAsUser: 'all',
    runAsGroup: 'all',
    runAsNonRoot: 'all',
    readOnlyRootFilesystem: 'all',
    allowPrivilegeEscalation: 'all',
    seccompProfile: 'all',
    appArmorProfile: 'all',
    procMount: ['Default'],
    ...none('seLinuxOptions', 'windowsOptions'),
  },
  volumeMounts: {
    name: 'all',
    mountPath: 'all',
    readOnly: 'all',
    subPath: 'all',
    subPathExpr: 'all',
    mountPropagation: 'all',
    recursiveReadOnly: ['Disabled'],
  },
  livenessProbe: 'all',
  readinessProbe: 'all',
  startupProbe: 'all',
  lifecycle: { postStart: HOOK, preStop: HOOK, ...none('stopSignal') },
  terminationMessagePath: 'all',
  terminationMessagePolicy: 'all',
  stdin: 'all',
  stdinOnce: 'all',
  tty: 'all',
  ...none('resizePolicy', 'restartPolicy', 'restartPolicyRules', 'volumeDevices'),
};

const VOLUME: Support = {
  name: 'all',
  hostPath: 'all',
  emptyDir: { medium: ['', 'Memory'], sizeLimit: 'all' },
  configMap: 'all',
  secret: 'all',
  downwardAPI: 'all',
  projected: {
    defaultMode: 'all',
    sources: {
      configMap: 'all',
      secret: 'all',
      downwardAPI: 'all',
      serviceAccountToken: 'all',
      ...none('clusterTrustBundle', 'podCertificate'),
    },
  },
  ...none('csi', 'ephemeral', 'image', 'persistentVolumeClaim'),
  // Of one cloud or one kind of storage each; upstream has given most of them up.
  ...none(
    'awsElasticBlockStore',
    'azureDisk',
    'azureFile',
    'cephfs',
    'cinder',
    'fc',
    'flexVolume',
    'flocker',
  ),
  ...none(
    'gcePersistentDisk',
    'gitRepo',
    'glusterfs',
    'iscsi',
    'nfs',
    'photonPersistentDisk',
    'portworxVolume',
  ),
  ...none('quobyte', 'rbd', 'scaleIO', 'storageos', 'vsphereVolume'),
};

/** What agent, scheduler and controllers act on. */
export const POD_SPEC: Support = {
  containers: CONTAINER,
  volumes: VOLUME,
  initContainers: { ...CONTAINER, restartPolicy: 'all' },
  activeDeadlineSeconds: 'all',
  restartPolicy: 'all',
  terminationGracePeriodSeconds: 'all',
  dnsPolicy: 'all',
  dnsConfig: 'all',
  nodeSelector: 'all',
  nodeName: 'all',
  hostNetwork: 'all',
  hostPID: 'all',
  hostIPC: 'all',
  hostUsers: [true],
  hostname: 'all',
  hostAliases: 'all',
  imagePullSecrets: 'all',
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: 'all',
      ...none('preferredDuringSchedulingIgnoredDuringExecution'),
    },
    ...none('podAffinity', 'podAntiAffinity'),
  },
  tolerations: 'all',
  schedulerName: 'all',
  overhead: 'all',
  os: 'all',
  // There are no Services to link to: both ways come to the same.
  enableServiceLinks: 'all',
  automountServiceAccountToken: 'all',
  serviceAccountName: 'all',
  // The older name of serviceAccountName.
  serviceAccount: 'all',
  shareProcessNamespace: 'all',
  setHostnameAsFQDN: 'all',
  subdomain: 'all',
  securityContext: {
    runAsUser: 'all',
    runAsGroup: 'all',
    runAsNonRoot: 'all',
    supplementalGroups: 'all',
    supplementalGroupsPolicy: ['Merge'],
    fsGroup: 'all',
    fsGroupChangePolicy: 'all',
    sysctls: 'all',
    seccompProfile: 'all',
    appArmorProfile: 'all',
    ...none('seLinuxChangePolicy', 'seLinuxOptions', 'windowsOptions'),
  },
  ...none('ephemeralContainers', 'hostnameOverride'),
  // Who goes when a host runs short, and of classes those that need no PriorityClass.
  priority: 'all',
  priorityClassName: ['system-cluster-critical', 'system-node-critical'],
  ...none('preemptionPolicy', 'readinessGates'),
  ...none('resourceClaims', 'resources', 'runtimeClassName', 'schedulingGates'),
  ...none('topologySpreadConstraints'),
};

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Paths under `field` that hold something which has no effect. */
function withoutEffect(value: unknown, support: Support | undefined, field: string): string[] {
  if (isEmpty(value) || support === 'all') return [];
  if (support === undefined) return [field];
  if (isValueList(support)) return support.includes(value) ? [] : [field];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => withoutEffect(item, support, `${field}[${index}]`));
  }
  return Object.entries(value as object).flatMap(([key, child]) =>
    withoutEffect(child, ownValue(support, key), `${field}.${key}`),
  );
}

function isValueList(support: Support): support is readonly unknown[] {
  return Array.isArray(support);
}

/** One warning for each field of the spec (at this path) that is stored without effect. */
export function unsupportedFields(spec: PodSpec, field: string): string[] {
  return withoutEffect(spec, POD_SPEC, field).map((path) => `${path}: stored, but without effect yet`);
}
