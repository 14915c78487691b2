/** fleet.everynode.dev/v1 HostEffect: which Pods would come and go if hosts were changed so. Answered by the API, stored nowhere. */
import type { NodeChange } from '../nodes/node-change.js';

/** What is asked for. */
export interface HostEffectRequest {
  /** Names of hosts. */
  hosts: readonly string[];
  change: NodeChange;
}

/** What becomes of one DaemonSet on these hosts. */
export interface DaemonSetEffect {
  namespace: string;
  name: string;
  /** Hosts that get a Pod of it; at most ten are named. */
  starts: number;
  startsOn: string[];
  /** Hosts that lose theirs. */
  stops: number;
  stopsOn: string[];
}

export interface HostEffect {
  kind: 'HostEffect';
  apiVersion: string;
  /** How many of the hosts exist. */
  hosts: number;
  /** Those that do not. */
  missing: string[];
  /** Those that it changes anything for, by namespace and name. */
  daemonSets: DaemonSetEffect[];
  /** Number of further DaemonSets with changes, which the caller is not allowed to read; absent: none. */
  unreadable?: number;
  /** Pods of no DaemonSet that a NoExecute taint drives out, at once or when their toleration ends. */
  evicted: number;
}
