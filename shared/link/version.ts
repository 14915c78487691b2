/** Which version and which features two ends speak. */
import { SUBPROTOCOL } from './messages.js';

/** The hub may `ask` for objects, and the agent answers with `returned`. */
export const GIVE_BACK = 'giveBack';

/** The hub may tell which images to `holdImages`. */
export const HOLD_IMAGES = 'holdImages';

/** A `desired` may hold ConfigMaps and Secrets beside Pods: those that the Pods name. */
export const CONFIG_OBJECTS = 'configObjects';

/** Streams go both ways, hosts run commands, and both ends tell what has arrived. */
export const CHANNELS = 'channels';

/** Features this build knows beyond the plain version. A message kind added later is sent only if both ends name its feature. */
export const FEATURES: readonly string[] = ['logs', GIVE_BACK, CONFIG_OBJECTS, CHANNELS, HOLD_IMAGES];

/** The features both ends named. */
export function commonFeatures(theirs: readonly string[]): string[] {
  return FEATURES.filter((feature) => theirs.includes(feature));
}

/** The subprotocol to speak out of those offered in `Sec-WebSocket-Protocol`, or undefined when none is known. */
export function chooseSubprotocol(offered: string | undefined): string | undefined {
  return offered?.split(',').some((each) => each.trim() === SUBPROTOCOL) ? SUBPROTOCOL : undefined;
}
