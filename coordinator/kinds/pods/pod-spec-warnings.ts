/**
 * The fields of a PodSpec that have an effect. All other fields are valid and stored, and each causes a warning. A test
 * compares this table with the schema, so that a new field needs a decision. To support a field, remove it from `none`.
 */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { Container, PodSpec } from '../../../shared/kube/pods/pod-types.js';

/**
 * `all`: the field and everything below it has an effect. List: only these values do (the default is one of them). Map:
 * only these fields of the object, or of each list element, do.
 */
export type Support = 'all' | readonly unknown[] | { readonly [field: string]: Support };

/** Returns fields without effect. */
function none(...fields: string[]): { readonly [field: string]: Support } {
  return Object.fromEntries(fields.map((field) => [field, []]));
}

const RESOURCES: Support = { cpu: 'all', memory: 'all', 'ephemeral-storage': 'all' };

/** The API accepts tcpSocket here, but upstream never executes it. */
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
    seLinuxOptions: 'all',
    ...none('windowsOptions'),
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
  // Volumes of single clouds or storage systems. Upstream has removed most of them.
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

/** The fields that the agent, the scheduler and the controllers use. */
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
  // Pods get no environment variables of Services, so both values are equivalent.
  enableServiceLinks: 'all',
  automountServiceAccountToken: 'all',
  serviceAccountName: 'all',
  // The deprecated name of serviceAccountName.
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
    seLinuxOptions: 'all',
    ...none('seLinuxChangePolicy', 'windowsOptions'),
  },
  ephemeralContainers: { ...CONTAINER, targetContainerName: 'all' },
  ...none('hostnameOverride'),
  priority: 'all',
  priorityClassName: 'all',
  preemptionPolicy: 'all',
  ...none('readinessGates'),
  ...none('resourceClaims', 'resources', 'runtimeClassName', 'schedulingGates'),
  ...none('topologySpreadConstraints'),
};

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Returns the paths below `field` that have no effect. */
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

/** What does not happen, by the field. The author relies on these fields for availability. */
const CONSEQUENCES: Readonly<Record<string, string>> = {
  podAffinity: 'Pods are not placed near the Pods that it selects',
  podAntiAffinity: 'Pods that it keeps apart can run on one host',
  topologySpreadConstraints: 'Pods are spread over hosts by their number alone, and not over zones',
};

/** Returns one warning for each field of the spec (at path `field`) that is stored without effect. */
export function unsupportedFields(spec: PodSpec, field: string): string[] {
  return withoutEffect(spec, POD_SPEC, field).map((path) => {
    const consequence = ownValue(CONSEQUENCES, path.slice(path.lastIndexOf('.') + 1).replace(/\[\d+\]$/, ''));
    return `${path}: stored, but has no effect${consequence ? `: ${consequence}` : ''}`;
  });
}

const WARNING =
  "the container engine writes the value of the Secret to the host's disk in plain text; a Secret that is mounted as a file stays in memory";

/**
 * Returns one warning for each place of the spec (at path `field`) that puts a Secret into the environment. Engines
 * write the environment to disk in plain text.
 */
export function secretEnvironmentWarnings(spec: PodSpec, field: string): string[] {
  const lists = { initContainers: spec.initContainers ?? [], containers: spec.containers };
  return Object.entries(lists).flatMap(([list, containers]) =>
    containers.flatMap((container, index) => places(container, `${field}.${list}[${index}]`)),
  );
}

function places({ env = [], envFrom = [] }: Container, field: string): string[] {
  const variables = env.flatMap(({ valueFrom }, index) =>
    valueFrom?.secretKeyRef ? [`${field}.env[${index}].valueFrom.secretKeyRef`] : [],
  );
  const sources = envFrom.flatMap(({ secretRef }, index) =>
    secretRef ? [`${field}.envFrom[${index}].secretRef`] : [],
  );
  return [...variables, ...sources].map((place) => `${place}: ${WARNING}`);
}
