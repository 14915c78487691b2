/** Which hosts need an operator. `hosts?troubled=true` lists only these. Pure. */
import type { Host } from './host-types.js';

/** Agents renew certificates long before this. A certificate this close to its expiry has not been renewed. */
const CERTIFICATE_ENDS_SOON_MS = 14 * 24 * 3_600_000;

/** True if the host is not Ready, or has failing Pods, pressure, a wrong clock or an expiring certificate. */
export function isTroubledHost({ status }: Host, now: number): boolean {
  const { state, pods, pressures, clockSkew } = status;
  return (
    state !== 'Ready' ||
    pods.failing > 0 ||
    pressures.length > 0 ||
    clockSkew !== undefined ||
    certificateEndsSoon(status, now)
  );
}

/** `now` in ms since the epoch. */
export function certificateEndsSoon({ certificateEnds }: Host['status'], now: number): boolean {
  return certificateEnds !== undefined && Date.parse(certificateEnds) - now < CERTIFICATE_ENDS_SOON_MS;
}
