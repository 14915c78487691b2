/** Schemas of Node and Pod status. Valid values are safe to store and to print. */

import type {
  DaemonEndpoints,
  NodeAddress,
  NodeImage,
  NodeStatus,
  NodeSystemInfo,
  Taint,
} from '../../kube/nodes/node-types.js';
import type { Condition } from '../../kube/objects/conditions.js';
import { isTimeText } from '../../kube/objects/meta.js';
import type {
  ContainerState,
  ContainerStateRunning,
  ContainerStateTerminated,
  ContainerStateWaiting,
  ContainerStatus,
  PodStatus,
} from '../../kube/pods/pod-types.js';
import {
  flag,
  integer,
  list,
  mapOf,
  oneOf,
  optional,
  record,
  type Schema,
  text,
} from './schema-combinators.js';

/** The largest int32. Clients reject a whole list if one such field holds a larger number. */
export const MAX_INT32 = 2 ** 31 - 1;

/** Names of objects, containers and reasons. */
export const name: Schema<string> = text(253);
/** Images, digests and ids. */
const reference = text(1_024);
/** Termination messages have up to 4 KiB for each container. */
const message = text(8_192);

const shortText = text(32);

/** Cache of the last valid time. Reports repeat the same few times, so one check and one string serve many of them. */
let lastTime: string | undefined;

/** A valid RFC 3339 time in UTC. */
export const timestamp: Schema<string> = (value, path) => {
  if (lastTime !== undefined && value === lastTime) return lastTime;
  const written = shortText(value, path);
  if (!written.endsWith('Z') || !isTimeText(written))
    return oneOf('an RFC 3339 time in UTC')(undefined, path);
  lastTime = written;
  return written;
};

/** Drops a field that is not part of the protocol. */
const nothing: Schema<undefined> = () => undefined;

const conditionFields = {
  type: name,
  status: oneOf('True', 'False', 'Unknown'),
  reason: optional(name),
  message: optional(message),
  lastTransitionTime: optional(timestamp),
};

const podCondition = record<Condition>({
  ...conditionFields,
  lastHeartbeatTime: nothing,
  lastProbeTime: optional(timestamp),
  observedGeneration: optional(integer(0)),
});

const nodeCondition = record<Condition>({
  ...conditionFields,
  lastHeartbeatTime: optional(timestamp),
  lastProbeTime: nothing,
  observedGeneration: nothing,
});

const containerState = record<ContainerState>({
  waiting: optional(record<ContainerStateWaiting>({ reason: optional(name), message: optional(message) })),
  running: optional(record<ContainerStateRunning>({ startedAt: optional(timestamp) })),
  terminated: optional(
    record<ContainerStateTerminated>({
      exitCode: integer(-MAX_INT32 - 1, MAX_INT32),
      signal: optional(integer(0, 1_000)),
      reason: optional(name),
      message: optional(message),
      startedAt: optional(timestamp),
      finishedAt: optional(timestamp),
      containerID: optional(reference),
    }),
  ),
});

const containerStatus = record<ContainerStatus>({
  name,
  state: optional(containerState),
  lastState: optional(containerState),
  ready: flag,
  restartCount: integer(0, MAX_INT32),
  image: reference,
  imageID: reference,
  containerID: optional(reference),
  started: optional(flag),
});

const containerStatuses = optional(list(containerStatus, 200));
const address = text(64);

export const podStatus: Schema<PodStatus> = record<PodStatus>({
  phase: optional(oneOf('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown')),
  conditions: optional(list(podCondition, 50)),
  message: optional(message),
  reason: optional(name),
  nominatedNodeName: optional(name),
  hostIP: optional(address),
  hostIPs: optional(list(record<{ ip: string }>({ ip: address }), 10)),
  podIP: optional(address),
  podIPs: optional(list(record<{ ip: string }>({ ip: address }), 10)),
  startTime: optional(timestamp),
  initContainerStatuses: containerStatuses,
  containerStatuses,
  ephemeralContainerStatuses: containerStatuses,
  qosClass: optional(name),
  observedGeneration: optional(integer(0)),
});

const quantity = text(64) as Schema<NonNullable<NodeStatus['capacity']>[string]>;

const systemInfo = record<NodeSystemInfo>({
  machineID: reference,
  systemUUID: reference,
  bootID: reference,
  kernelVersion: reference,
  osImage: reference,
  containerRuntimeVersion: reference,
  kubeletVersion: reference,
  kubeProxyVersion: reference,
  operatingSystem: reference,
  architecture: reference,
});

export const nodeStatus: Schema<NodeStatus> = record<NodeStatus>({
  capacity: optional(mapOf(quantity)),
  allocatable: optional(mapOf(quantity)),
  conditions: optional(list(nodeCondition, 50)),
  addresses: optional(
    list(
      record<NodeAddress>({
        type: oneOf('Hostname', 'InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS'),
        address: name,
      }),
      50,
    ),
  ),
  nodeInfo: optional(systemInfo),
  images: optional(
    list(record<NodeImage>({ names: optional(list(text(1_024), 10)), sizeBytes: optional(integer(0)) }), 100),
  ),
  daemonEndpoints: optional(
    record<DaemonEndpoints>({
      kubeletEndpoint: optional(record<{ Port: number }>({ Port: integer(1, 65_535) })),
    }),
  ),
});

export const taint: Schema<Taint> = record<Taint>({
  key: text(317),
  value: optional(text(63)),
  effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
  timeAdded: optional(timestamp),
});
