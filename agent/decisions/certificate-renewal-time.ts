/** When a host asks for its next certificate. */

/** ms since the epoch, by the clock of whoever signed. */
interface CertificateTimes {
  notBeforeMs: number;
  notAfterMs: number;
}

/** Between 70 and 90 % of the lifetime, as a kubelet: hosts that joined together do not renew together. `chance` in [0, 1). */
export function certificateRenewalTimeMs(
  { notBeforeMs, notAfterMs }: CertificateTimes,
  chance: number,
): number {
  return notBeforeMs + (notAfterMs - notBeforeMs) * (0.7 + 0.2 * chance);
}
