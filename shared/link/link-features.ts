/** Which version and which features two ends speak. */
import { SUBPROTOCOL } from './messages/link-messages.js';

/** Pods may bear turns that the host carries out by itself, and it reports them as `turned`. */
export const HOST_HANDOVERS = 'hostHandovers';

/** Streams go both ways, hosts run commands, and both ends tell what has arrived. */
export const CHANNELS = 'channels';

/** The agent may `renew` its certificate, and the hub says what is `certified`. */
export const CERTIFICATES = 'certificates';

/** The agent tells what it costs its host (`meters`). */
export const METERS = 'meters';

/** Features this build knows beyond the plain version. A message kind added later is sent only if both ends name its feature. */
export const FEATURES: readonly string[] = ['logs', CHANNELS, HOST_HANDOVERS, CERTIFICATES, METERS];

/** The features both ends named. */
export function commonFeatures(theirs: readonly string[]): string[] {
  return FEATURES.filter((feature) => theirs.includes(feature));
}

/** The subprotocol to speak out of those offered in `Sec-WebSocket-Protocol`, or undefined when none is known. */
export function chooseSubprotocol(offered: string | undefined): string | undefined {
  return offered?.split(',').some((each) => each.trim() === SUBPROTOCOL) ? SUBPROTOCOL : undefined;
}
