/**
 * Computes the Node's status from the host and the engine, with the kubelet's reasons and messages
 * (pkg/kubelet/nodestatus/setters.go).
 */

import type { NodeStatus } from '../../shared/kube/nodes/node-types.js';
import { type Condition, withCondition } from '../../shared/kube/objects/conditions.js';
import { toTimestamp } from '../../shared/kube/objects/meta.js';
import type { ResourceList } from '../../shared/kube/pods/pod-types.js';
import type { Pressure } from '../decisions/eviction/eviction-thresholds.js';
import type { EngineInfo } from '../runtime/runtime-driver.js';
import type { HostInfo } from './host-info.js';

/** The kubelet's default `maxPods`. */
export const MAX_PODS = 110;
/** Memory that the kubelet's default eviction threshold keeps free. */
const RESERVED_MEMORY_BYTES = 100 * 1024 * 1024;
/** Fraction of the disk that Pods may use by default. */
const ALLOCATABLE_DISK = 0.9;

/** The engine responds, or the reason why it does not. */
export type EngineHealth = { kind: 'up'; info: EngineInfo } | { kind: 'down'; message: string };

/** The condition of the service proxy, without its times. */
export type ServiceProxyState = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export interface NodeStatusInputs {
  nodeName: string;
  host: HostInfo;
  engine: EngineHealth;
  /** The engine's info when it last responded. */
  lastEngine?: EngineInfo;
  agentVersion: string;
  /** Current pressures. Absent = none. */
  pressures?: readonly Pressure[];
  /** Device of the engine's bridge, once seen on this host. Before, it may belong to an engine elsewhere. */
  seenBridge?: string;
  /** Whether rules for Services are in effect. Absent on hosts that serve none. */
  serviceProxy?: ServiceProxyState;
  /** Port of the kubelet's pages. Absent = not served. */
  kubeletPort?: number;
  /** ms since the epoch, by the host's monotonic clock. */
  now: number;
}

/** Returns the current status. Conditions that did not change keep the transition times of `previous`. */
export function nodeStatus(facts: NodeStatusInputs, previous: NodeStatus | undefined): NodeStatus {
  const { host, nodeName } = facts;
  const engine = facts.engine.kind === 'up' ? facts.engine.info : facts.lastEngine;
  return {
    capacity: capacityOf(host),
    allocatable: allocatableOf(host),
    conditions: conditionsOf(facts, previous),
    addresses: [
      ...(host.address ? [{ type: 'InternalIP' as const, address: host.address }] : []),
      { type: 'Hostname', address: nodeName },
    ],
    ...(facts.kubeletPort === undefined
      ? {}
      : { daemonEndpoints: { kubeletEndpoint: { Port: facts.kubeletPort } } }),
    nodeInfo: {
      machineID: host.machineID,
      systemUUID: host.systemUUID,
      bootID: host.bootID,
      kernelVersion: host.kernelVersion,
      osImage: host.osImage,
      containerRuntimeVersion: engine ? `${engine.name}://${engine.version}` : '',
      kubeletVersion: `v${facts.agentVersion}`,
      kubeProxyVersion: '',
      operatingSystem: host.operatingSystem,
      architecture: host.architecture,
    },
  };
}

function capacityOf(host: HostInfo): ResourceList {
  return {
    cpu: String(host.cpus),
    memory: kibibytes(host.memoryBytes),
    'ephemeral-storage': kibibytes(host.diskBytes),
    pods: String(MAX_PODS),
  };
}

/** Returns the resources for Pods: the capacity minus what the kubelet keeps free by default. */
export function allocatableOf(host: HostInfo): ResourceList {
  return {
    ...capacityOf(host),
    memory: kibibytes(Math.max(host.memoryBytes - RESERVED_MEMORY_BYTES, 0)),
    'ephemeral-storage': String(Math.floor(host.diskBytes * ALLOCATABLE_DISK)),
  };
}

function kibibytes(bytes: number): string {
  return `${Math.floor(bytes / 1024)}Ki`;
}

function conditionsOf(facts: NodeStatusInputs, previous: NodeStatus | undefined): Condition[] {
  const { engine, now, pressures = [], serviceProxy } = facts;
  const time = toTimestamp(now);
  const network = networkCondition(facts);
  const wanted: Condition[] = [
    ...PRESSURES.map((texts) => pressureCondition(texts, pressures.includes(texts.type))),
    ...(network ? [network] : []),
    ...(serviceProxy ? [serviceProxy] : []),
    readyCondition(engine),
  ];
  return wanted.flatMap((condition) =>
    withCondition(
      previous?.conditions?.filter(({ type }) => type === condition.type),
      { ...condition, lastHeartbeatTime: time },
      time,
    ),
  );
}

interface PressureTexts {
  type: Pressure;
  active: readonly [reason: string, message: string];
  inactive: readonly [reason: string, message: string];
}

const PRESSURES: readonly PressureTexts[] = [
  {
    type: 'MemoryPressure',
    active: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
    inactive: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  },
  {
    type: 'DiskPressure',
    active: ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
    inactive: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  },
  {
    type: 'PIDPressure',
    active: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
    inactive: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  },
];

function pressureCondition({ type, active, inactive }: PressureTexts, isActive: boolean): Condition {
  const [reason, message] = isActive ? active : inactive;
  return { type, status: isActive ? 'True' : 'False', reason, message };
}

/** Condition of the network of Pods without `hostNetwork`. Undefined until the engine has reported it. */
function networkCondition({ engine, lastEngine, host, seenBridge }: NodeStatusInputs): Condition | undefined {
  const network = engine.kind === 'up' ? engine.info.podNetwork : lastEngine?.podNetwork;
  if (!network) return undefined;
  const type = 'NetworkUnavailable';
  if (!network.exists) {
    const message = 'the engine has no bridge network: only pods with hostNetwork can run';
    return { type, status: 'True', reason: 'NoBridgeNetwork', message };
  }
  const { device } = network;
  if (device !== undefined && device === seenBridge && !host.devices?.includes(device)) {
    const message = `the network device ${device} of the engine's bridge network does not exist any longer`;
    return { type, status: 'True', reason: 'BridgeIsDown', message };
  }
  return { type, status: 'False', reason: 'BridgeIsUp', message: "the engine's bridge network exists" };
}

function readyCondition(engine: EngineHealth): Condition {
  switch (engine.kind) {
    case 'up':
      return {
        type: 'Ready',
        status: 'True',
        reason: 'KubeletReady',
        message: 'kubelet is posting ready status',
      };
    case 'down':
      return {
        type: 'Ready',
        status: 'False',
        reason: 'KubeletNotReady',
        message: `container runtime is down: ${engine.message}`,
      };
  }
}
