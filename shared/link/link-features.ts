/** Versions and features of the link protocol. */
import { SUBPROTOCOL } from './messages/link-messages.js';

/**
 * ALPN protocol of a link (RFC 7301). Agents offer it before `http/1.1`, so that a coordinator recognises links before the
 * TLS handshake.
 */
export const LINK_PROTOCOL = 'everynode-link';

/** Pods may carry handovers. The agent reports them as `handedOver`. */
export const HOST_HANDOVERS = 'hostHandovers';
/** Streams in both directions, commands on hosts, and acknowledgements of received bytes. */
export const CHANNELS = 'channels';
/** The agent may `renew` its certificate. The hub responds with `certified`. */
export const CERTIFICATES = 'certificates';
/** The agent may send `meters`. */
export const METERS = 'meters';

/** The agent may send `serviceInterest`. The hub responds with `serviceViews` and `endpointChanges`. */
export const SERVICES = 'services';

/** The hub names the addresses of all coordinators in the welcome, and sends `coordinators` when they change. */
export const COORDINATORS = 'coordinators';

/** The agent may send `requestServing`. The hub responds with `servingIssued`. */
export const SERVING = 'serving';

/** The hub may open streams of type `kubelet`. */
export const KUBELET = 'kubelet';

/** The agent may name the applied `desired` message in its next `status`. */
export const APPLIED_IN_STATUS = 'appliedInStatus';

/** All features of this build. A message of a feature is only sent if both ends name it. */
export const FEATURES: readonly string[] = [
  'logs',
  CHANNELS,
  HOST_HANDOVERS,
  CERTIFICATES,
  METERS,
  SERVICES,
  COORDINATORS,
  KUBELET,
  SERVING,
  APPLIED_IN_STATUS,
];

export function commonFeatures(theirs: readonly string[]): string[] {
  return FEATURES.filter((feature) => theirs.includes(feature));
}

/** Returns the supported subprotocol among those offered in `Sec-WebSocket-Protocol`, or undefined. */
export function chooseSubprotocol(offered: string | undefined): string | undefined {
  return offered?.split(',').some((each) => each.trim() === SUBPROTOCOL) ? SUBPROTOCOL : undefined;
}
