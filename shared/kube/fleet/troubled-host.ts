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
export function certificateEndsSoon(status: Host['status'], now: number): boolean {
  const at = certificateTroubleAt(status);
  return at !== undefined && now >= at;
}

/** Returns when the certificate begins to end soon, in ms since the epoch. Undefined if its end is unknown. */
export function certificateTroubleAt({ certificateEnds }: Host['status']): number | undefined {
  const at = Date.parse(certificateEnds ?? '') - CERTIFICATE_ENDS_SOON_MS;
  return Number.isNaN(at) ? undefined : at;
}
