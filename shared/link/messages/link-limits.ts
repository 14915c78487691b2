/** Names, paths and limits of the agent link. */
import { STANDARD_HEARTBEAT } from '../../kube/nodes/heartbeat-config.js';

export const SUBPROTOCOL = 'everynode.v1';
export const LINK_PATH = '/link';
/** POST with a join token: obtains a node's certificate. */
export const JOIN_PATH = '/join';
/** POST signed with the host's key: renews a certificate, or asks for the state of a request. */
export const CERTIFICATE_PATH = '/certificate';
/** POST with a coordinator's token: obtains the keys of the fleet. */
export const COORDINATOR_JOIN_PATH = '/coordinators/join';
/** GET by a coordinator of the fleet: obtains the database. */
export const SNAPSHOT_PATH = '/coordinators/snapshot';
/** GET: the term of the leader, for a leader that cannot reach etcd. */
export const LEADER_PATH = '/coordinators/leader';
/** Response header of a snapshot: hex SHA-256 of the body. */
export const SNAPSHOT_HASH_HEADER = 'everynode-snapshot-sha256';
/** Request header of a link: the `mac` of the node's join. */
export const JOIN_MAC_HEADER = 'everynode-join-mac';

/** Coordinators of a fleet, and the length of an address: a DNS name has at most 253 characters. */
export const MAX_COORDINATORS = 16;
export const MAX_ADDRESS_LENGTH = 300;

export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
export const STREAM_CHUNK_BYTES = 16 * 1024;
/** Initial credit of a stream, in bytes. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
export const HEARTBEAT_INTERVAL_MS = STANDARD_HEARTBEAT.heartbeatMs;
/** Time without received bytes after which a peer counts as lost. Default of `HeartbeatConfig.silenceMs`. */
export const SILENCE_TIMEOUT_MS = STANDARD_HEARTBEAT.silenceMs;

/** Limits of the path and the query of a kubelet's page, in characters. */
export const MAX_PAGE_PATH = 2_048;
export const MAX_PAGE_QUERY = 4_096;
