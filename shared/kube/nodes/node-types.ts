/** The v1 Node. */
import type { Condition } from '../objects/conditions.js';
import type { KubeObject, Timestamp } from '../objects/meta.js';
import type { ResourceList } from '../pods/pod-types.js';

/**
 * Annotation, set by the hub only after a restore: the store epoch in which the host last reported its Pods. While it
 * differs from the current epoch, the store may lack Pods that run on the host.
 */
export const RESYNCED_IN_EPOCH = 'everynode.dev/resynced-in-epoch';

export type TaintEffect = 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';

export interface Taint {
  key: string;
  value?: string;
  effect: TaintEffect;
  timeAdded?: Timestamp;
}

export interface NodeSpec {
  unschedulable?: boolean;
  taints?: Taint[];
  podCIDR?: string;
  podCIDRs?: string[];
  providerID?: string;
}

export interface NodeAddress {
  type: 'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS';
  address: string;
}

export interface NodeSystemInfo {
  machineID: string;
  systemUUID: string;
  bootID: string;
  kernelVersion: string;
  osImage: string;
  /** e.g. `docker://20.10.24` */
  containerRuntimeVersion: string;
  /** The agent's version; kubectl shows it as VERSION. */
  kubeletVersion: string;
  kubeProxyVersion: string;
  operatingSystem: string;
  architecture: string;
}

export interface NodeImage {
  names?: string[];
  sizeBytes?: number;
}

export interface DaemonEndpoints {
  kubeletEndpoint?: { Port: number };
}

export interface NodeStatus {
  capacity?: ResourceList;
  allocatable?: ResourceList;
  conditions?: Condition[];
  addresses?: NodeAddress[];
  nodeInfo?: NodeSystemInfo;
  /** Images that the host keeps for future Pods, named as Pods name them. */
  images?: NodeImage[];
  /** Absent unless the host serves the kubelet's port. */
  daemonEndpoints?: DaemonEndpoints;
}

export interface Node extends KubeObject {
  spec?: NodeSpec;
  status?: NodeStatus;
}
