/** Names, places and limits of the agent link. */
import { STANDARD_HEARTBEAT } from '../../kube/nodes/heartbeat-config.js';

export const SUBPROTOCOL = 'everynode.v1';
export const LINK_PATH = '/link';
/** POST here with a join token to obtain a node's credential. */
export const JOIN_PATH = '/join';
/** POST here with the host's own key, to renew a certificate or to ask how a request stands. */
export const CERTIFICATE_PATH = '/certificate';
/** Request header of a link that carries the `seal` of the node's join. */
export const JOIN_MAC_HEADER = 'everynode-join-mac';

export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
export const STREAM_CHUNK_BYTES = 16 * 1024;
/** Credit that a stream's reader grants at once, in bytes. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
export const HEARTBEAT_INTERVAL_MS = STANDARD_HEARTBEAT.heartbeatMs;
/** Silence after which a peer counts as gone, where no other pace is kept. */
export const SILENCE_TIMEOUT_MS = STANDARD_HEARTBEAT.silenceMs;
