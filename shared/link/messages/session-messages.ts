/** How a session of the link begins and ends. */
import type { HeartbeatConfig } from '../../kube/nodes/heartbeat-config.js';
import type { Node, NodeStatus, Taint } from '../../kube/nodes/node-types.js';
import type { ObjectDigest } from './desired-messages.js';

export interface Hello {
  kind: 'hello';
  node: string;
  bootID: string;
  /** Random, one an agent process: tells a reconnect from a clone. */
  instanceID: string;
  agentVersion: string;
  features: string[];
  /** Absent before the first welcome. */
  clusterUID?: string;
  epoch?: string;
  /** Revision of the last `desired` applied; 0 = none. */
  revision: number;
  objects: ObjectDigest[];
  /** Uid of the Node that this agent process was welcomed as; absent before its first welcome. */
  nodeUid?: string;
  /** Labels and taints for a Node that does not exist yet. */
  register: { labels: Record<string, string>; taints: Taint[] };
  status: NodeStatus;
  /** The host's steady clock now, ms: the hub measures its offset to the hub's own time. */
  hostTimeMs: number;
  /** The host's wall clock now, ms: how wrong it is, is told to people and counts for nothing else. */
  wallTimeMs?: number;
}

export interface Welcome {
  kind: 'welcome';
  features: string[];
  clusterUID: string;
  epoch: string;
  heartbeatIntervalMs: number;
  /** The first reconnect is spread over so long. */
  reconnectSpreadMs: number;
  serverTimeMs: number;
  /** The Node as stored, for field refs and cordon. */
  node: Pick<Node, 'metadata'>;
  /** To be known by over HTTPS as long as this link stands: behind a proxy that ends TLS, where no certificate is seen. */
  bearerToken?: string;
}

/** Feature `heartbeatConfig`: how often the agent is to show life from now on, and what it may save. */
export interface HeartbeatConfigChange extends HeartbeatConfig {
  kind: 'pace';
}

/** Feature `time`: the hub's clock was set, and what the welcome said of it counts no more. */
export interface ClockChange {
  kind: 'time';
  serverTimeMs: number;
}

export type GoodbyeReason = 'superseded' | 'duplicate' | 'draining' | 'refused' | 'nodeDeleted';

export interface Goodbye {
  kind: 'goodbye';
  reason: GoodbyeReason;
  message: string;
  /** Do not come back sooner; absent = do not come back while this process lives. */
  retryMs?: number;
  /** With `nodeDeleted`: whose Node it was. An agent of that fleet drops its Pods; any other ignores the word. */
  clusterUID?: string;
}
