/** Times in ms since the epoch, by the signer's clock. */
interface CertificateTimes {
  notBeforeMs: number;
  notAfterMs: number;
}

/**
 * Returns when to request the next certificate: between 70 and 90 % of its lifetime, like a kubelet. `chance` in [0, 1)
 * spreads the renewals of hosts that joined together.
 */
export function certificateRenewalTimeMs(
  { notBeforeMs, notAfterMs }: CertificateTimes,
  chance: number,
): number {
  return notBeforeMs + (notAfterMs - notBeforeMs) * (0.7 + 0.2 * chance);
}
