/** Versions and features of the link protocol. */
import { SUBPROTOCOL } from './messages/link-messages.js';

/** The hub may send `returnRequest`. The agent responds with `returned`. */
export const RETURN_OBJECTS = 'returnObjects';
/** The hub may send `prefetchImages`. */
export const PREFETCH_IMAGES = 'prefetchImages';
/** Pods may carry handovers. The agent reports them as `handedOver`. */
export const HOST_HANDOVERS = 'hostHandovers';
/** A `desired` message may contain the ConfigMaps and Secrets that Pods reference. */
export const CONFIG_OBJECTS = 'configObjects';
/** Streams in both directions, commands on hosts, and acknowledgements of received bytes. */
export const CHANNELS = 'channels';
/** The agent may `renew` its certificate. The hub responds with `certified`. */
export const CERTIFICATES = 'certificates';
/** The agent may send `meters`. */
export const METERS = 'meters';
/** The hub may send `heartbeatConfig`, which can allow compression. */
export const HEARTBEAT_CONFIG = 'heartbeatConfig';
/** The hub may send `time` after the welcome. */
export const TIME = 'time';

/** All features of this build. A message of a feature is only sent if both ends name it. */
export const FEATURES: readonly string[] = [
  'logs',
  RETURN_OBJECTS,
  CONFIG_OBJECTS,
  CHANNELS,
  PREFETCH_IMAGES,
  HOST_HANDOVERS,
  CERTIFICATES,
  METERS,
  HEARTBEAT_CONFIG,
  TIME,
];

export function commonFeatures(theirs: readonly string[]): string[] {
  return FEATURES.filter((feature) => theirs.includes(feature));
}

/** Returns the supported subprotocol among those offered in `Sec-WebSocket-Protocol`, or undefined. */
export function chooseSubprotocol(offered: string | undefined): string | undefined {
  return offered?.split(',').some((each) => each.trim() === SUBPROTOCOL) ? SUBPROTOCOL : undefined;
}
