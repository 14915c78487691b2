/** fleet.everynode.dev/v1 HostEffect: a preview of Pods that a change of hosts starts and stops. Never stored. */
import type { NodeChange } from '../nodes/node-change.js';

export interface HostEffectRequest {
  /** Names of hosts. */
  hosts: readonly string[];
  change: NodeChange;
}

/** The effect on one DaemonSet. */
export interface DaemonSetEffect {
  namespace: string;
  name: string;
  /** Number of hosts that get a Pod. At most ten are named in `startsOn`. */
  starts: number;
  startsOn: string[];
  /** Number of hosts that lose their Pod. */
  stops: number;
  stopsOn: string[];
}

export interface HostEffect {
  kind: 'HostEffect';
  apiVersion: string;
  /** Number of requested hosts that exist. */
  hosts: number;
  /** Names of requested hosts that do not exist. */
  missing: string[];
  /** DaemonSets with a change, sorted by namespace and name. */
  daemonSets: DaemonSetEffect[];
  /** Number of further affected DaemonSets that the caller is not allowed to read. Absent if there are none. */
  unreadable?: number;
  /** Number of Pods without a DaemonSet that a NoExecute taint evicts, at once or when their toleration expires. */
  evicted: number;
}
