/** Findings about the certificates of a coordinator. */
import { expiryFinding, type Finding } from '../../../shared/doctor/finding.js';
import type { ServingCertificateFact } from './coordinator-facts.js';

const DAY_MS = 24 * 60 * 60_000;
/** The coordinator renews its own certificates 60 days before they end. */
const SOON_MS = 30 * DAY_MS;

const OWN = {
  expired: 'Check the clock. If it is right, restart the coordinator: it renews the certificate.',
  soon: 'A running coordinator renews it each night. Restart the coordinator, and look for errors in its log.',
};
const SUPPLIED = {
  expired: 'Replace the file and restart the coordinator.',
  soon: 'Replace the file before that time and restart the coordinator.',
};

export function certificateFindings(certificates: readonly ServingCertificateFact[], now: number): Finding[] {
  const check = 'certificate';
  if (certificates.length === 0)
    return [{ check, found: 'none yet; the first start creates them', result: 'ok' }];
  return certificates.flatMap((fact) => {
    if ('reason' in fact) {
      const remedy = 'Restore the file from a backup, or correct the setting that names it.';
      return [{ check, found: `${fact.what}: ${fact.reason}`, result: 'error', remedy }];
    }
    const { what, startsAt, missingNames, isOwn } = fact;
    if (startsAt > now) {
      const found = `${what} is not valid before ${new Date(startsAt).toISOString()}`;
      return [{ check, found, result: 'error', remedy: 'Set the clock of this machine.' }];
    }
    const remedies = isOwn ? OWN : SUPPLIED;
    const found = expiryFinding(fact, { check, now, soonMs: SOON_MS, remedies });
    // An error would refuse the installation, whose start is the remedy.
    const expiry: Finding = isOwn && found.result === 'error' ? { ...found, result: 'warning' } : found;
    if (missingNames.length === 0) return [expiry];
    const lacking = `${what} lacks ${missingNames.join(', ')}: clients that use such a name reject it`;
    const remedy = isOwn
      ? 'Restart the coordinator: it renews the certificate.'
      : 'Use a certificate with these names, or clients that use another name.';
    return [expiry, { check, found: lacking, result: 'warning', remedy }];
  });
}
