/** Start and end of a session, and changes during it. */
import type { HeartbeatConfig } from '../../kube/nodes/heartbeat-config.js';
import type { Node, NodeStatus, Taint } from '../../kube/nodes/node-types.js';
import type { ObjectDigest } from './desired-messages.js';

/** First message of the agent: who it is, what it has applied, and the state of its host. */
export interface Hello {
  kind: 'hello';
  node: string;
  bootID: string;
  /** Random for each agent process. It distinguishes a reconnect from a cloned host. */
  instanceID: string;
  agentVersion: string;
  features: string[];
  /** Absent before the first welcome. */
  clusterUID?: string;
  epoch?: string;
  /** Revision of the last applied `desired` message. 0: none. */
  revision: number;
  objects: ObjectDigest[];
  /** Uid of the Node in this process's last welcome. Absent before the first one. */
  nodeUid?: string;
  /** Labels and taints for a Node that does not exist yet. */
  register: { labels: Record<string, string>; taints: Taint[] };
  status: NodeStatus;
  /** The host's monotonic clock in milliseconds. The hub measures its offset to the hub's clock. */
  hostTimeMs: number;
  /** The host's wall clock in milliseconds. Only used to report its error to operators. */
  wallTimeMs?: number;
}

/** First message of the hub, in response to a hello that it accepted. */
export interface Welcome {
  kind: 'welcome';
  features: string[];
  clusterUID: string;
  epoch: string;
  heartbeatIntervalMs: number;
  /** Time over which agents spread their first reconnect. */
  reconnectSpreadMs: number;
  serverTimeMs: number;
  /** The stored Node, for field references and cordon. */
  node: Pick<Node, 'metadata'>;
  /** Token for HTTPS requests while the link is open, for hosts behind a proxy that terminates TLS. */
  bearerToken?: string;
  /** Feature `coordinators`: as in `CoordinatorsChange`. Absent if there is one coordinator. */
  coordinators?: string[];
}

/**
 * Feature `coordinators`: the addresses of all coordinators of the fleet, `https://HOST:PORT`, the leader first. Replaces
 * the list of the welcome.
 */
export interface CoordinatorsChange {
  kind: 'coordinators';
  coordinators: string[];
}

/** Changes heartbeat interval and traffic savings of the open link. */
export interface HeartbeatConfigChange extends HeartbeatConfig {
  kind: 'heartbeatConfig';
}

/** The hub's clock was stepped. Replaces `serverTimeMs` of the welcome. */
export interface ClockChange {
  kind: 'time';
  serverTimeMs: number;
}

export type GoodbyeReason = 'superseded' | 'duplicate' | 'draining' | 'refused' | 'nodeDeleted';

/** Last message of the hub before it closes the connection. */
export interface Goodbye {
  kind: 'goodbye';
  reason: GoodbyeReason;
  message: string;
  /** Minimum delay before a reconnect. Absent: the process must not reconnect. */
  retryMs?: number;
  /** With `nodeDeleted`: the fleet of the Node. Agents of another fleet keep their Pods. */
  clusterUID?: string;
}

/** Feature `certificates`: requests a new certificate for the key of the session. */
export interface RenewCertificate {
  kind: 'renew';
  /** PKCS #10 in PEM. */
  csr: string;
}

/** Feature `serving`: requests a certificate for the kubelet's port of the session's host. */
export interface RequestServing {
  kind: 'requestServing';
  /** PKCS #10 in PEM, with the subject of the host's own certificate. */
  csr: string;
  /** The host's addresses. */
  addresses: string[];
}

/** Feature `serving`: the response to `requestServing`. Not acknowledged. */
export interface ServingIssued {
  kind: 'servingIssued';
  /** PEM. */
  certificate: string;
  /** PEM of the authorities by which the port verifies client certificates. */
  clientCa: string;
}

/** Feature `certificates`: delivers a new certificate, new CA certificates, or both. Not acknowledged. */
export interface CertificateIssued {
  kind: 'certified';
  /** PEM. The response to a `renew`. */
  certificate?: string;
  /** PEM of all CA certificates to trust from now on. */
  ca?: string;
}
