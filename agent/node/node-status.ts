/** The Node's status from the host and the engine, in a kubelet's words (pkg/kubelet/nodestatus/setters.go). */
import { type Condition, withCondition } from '../../shared/kube/conditions.js';
import { toTimestamp } from '../../shared/kube/meta.js';
import type { NodeStatus } from '../../shared/kube/node.js';
import type { ResourceList } from '../../shared/kube/pod.js';
import type { EngineInfo } from '../runtime/driver.js';
import type { HostInfo } from './host-info.js';

/** Pods a node takes by default. */
const MAX_PODS = 110;
/** Memory that a kubelet's default eviction threshold keeps free. */
const KEPT_MEMORY_BYTES = 100 * 1024 * 1024;
/** Share of the disk that may be used by default. */
const ALLOCATABLE_DISK = 0.9;

/** The engine answers, or why it does not. */
export type EngineHealth = { kind: 'up'; info: EngineInfo } | { kind: 'down'; message: string };

export interface NodeFacts {
  nodeName: string;
  host: HostInfo;
  engine: EngineHealth;
  /** Of the engine when it was last up. */
  lastEngine?: EngineInfo;
  agentVersion: string;
  /** ms since the epoch, by the host's steady clock. */
  now: number;
}

/** The status now; transition times are kept from `previous` where a condition did not change. */
export function nodeStatus(facts: NodeFacts, previous: NodeStatus | undefined): NodeStatus {
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

/** What Pods may ask for in all: capacity less what a kubelet's defaults keep free. */
export function allocatableOf(host: HostInfo): ResourceList {
  return {
    ...capacityOf(host),
    memory: kibibytes(Math.max(host.memoryBytes - KEPT_MEMORY_BYTES, 0)),
    'ephemeral-storage': String(Math.floor(host.diskBytes * ALLOCATABLE_DISK)),
  };
}

function kibibytes(bytes: number): string {
  return `${Math.floor(bytes / 1024)}Ki`;
}

function conditionsOf({ engine, now }: NodeFacts, previous: NodeStatus | undefined): Condition[] {
  const time = toTimestamp(now);
  const wanted: Condition[] = [
    pressure('MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    pressure('DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    pressure('PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
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

function pressure(type: string, reason: string, message: string): Condition {
  return { type, status: 'False', reason, message };
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
