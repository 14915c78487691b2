/** Which version and which features two ends speak. */
import { SUBPROTOCOL } from './messages/link-messages.js';

/** The hub may `ask` for objects, and the agent answers with `returned`. */
export const RETURN_OBJECTS = 'returnObjects';

/** The hub may tell which images to `prefetchImages`. */
export const PINNED_IMAGES = 'prefetchImages';

/** Pods may bear turns that the host carries out by itself, and it reports them as `turned`. */
export const HOST_HANDOVERS = 'hostHandovers';

/** A `desired` may hold ConfigMaps and Secrets beside Pods: those that the Pods name. */
export const CONFIG_OBJECTS = 'configObjects';

/** Streams go both ways, hosts run commands, and both ends tell what has arrived. */
export const CHANNELS = 'channels';

/** The agent may `renew` its certificate, and the hub says what is `certified`. */
export const CERTIFICATES = 'certificates';

/** The agent tells what it costs its host (`meters`). */
export const METERS = 'meters';

/** The hub may tell the `pace` of the link; with one that compresses, messages may be. */
export const HEARTBEAT_CONFIG = 'heartbeatConfig';

/** The hub may tell the `time` again. */
export const TIME = 'time';

/** Features this build knows beyond the plain version. A message kind added later is sent only if both ends name its feature. */
export const FEATURES: readonly string[] = [
  'logs',
  RETURN_OBJECTS,
  CONFIG_OBJECTS,
  CHANNELS,
  PINNED_IMAGES,
  HOST_HANDOVERS,
  CERTIFICATES,
  METERS,
  HEARTBEAT_CONFIG,
  TIME,
];

/** The features both ends named. */
export function commonFeatures(theirs: readonly string[]): string[] {
  return FEATURES.filter((feature) => theirs.includes(feature));
}

/** The subprotocol to speak out of those offered in `Sec-WebSocket-Protocol`, or undefined when none is known. */
export function chooseSubprotocol(offered: string | undefined): string | undefined {
  return offered?.split(',').some((each) => each.trim() === SUBPROTOCOL) ? SUBPROTOCOL : undefined;
}
