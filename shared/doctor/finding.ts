/** What a doctor reports. Both programs have one: `everynode doctor` and `everynode-agent doctor`. Pure. */

/** One line of the report. `remedy` says what to do. */
export type Finding = { check: string; found: string } & (
  | { result: 'ok' }
  | { result: 'warning' | 'error'; remedy: string }
);

const MIB = 1024 * 1024;

/** Remedies by the code of a failed connection or lookup. */
const CONNECTION_REMEDIES: Readonly<Record<string, string>> = {
  PROXY: 'Check the proxy, its user and password in HTTPS_PROXY, and the exceptions in NO_PROXY.',
  ENOTFOUND: 'Check the name, /etc/resolv.conf and the DNS server.',
  EAI_AGAIN: 'Check /etc/resolv.conf and the DNS server.',
  ECONNREFUSED: 'Check the port, and that the coordinator runs.',
  ETIMEDOUT: 'Check the route and firewalls: the host needs an outgoing TCP connection to this port.',
  EHOSTUNREACH: 'Check the route and firewalls: the host needs an outgoing TCP connection to this port.',
  ENETUNREACH: 'Check the network of this host.',
  CERT_NOT_YET_VALID: 'Set the clock of this host.',
  CERT_HAS_EXPIRED: 'Check the clock of this host, and the certificate of the coordinator.',
};

/** Returns what to do about a failed connection or lookup; undefined for an unknown code. */
export function connectionRemedy(code: string | undefined): string | undefined {
  return CONNECTION_REMEDIES[code ?? ''];
}

/** The space of a file system, in bytes. */
export interface DiskFact {
  path: string;
  free: number;
  total: number;
}

/** Below `little` is a warning, below `least` an error. Bytes. */
interface DiskLimits {
  least: number;
  little: number;
  remedy: string;
}

export function diskFinding({ path, free, total }: DiskFact, { least, little, remedy }: DiskLimits): Finding {
  const check = 'disk';
  const found = `${sizeText(free)} of ${sizeText(total)} free at ${path}`;
  if (free >= little) return { check, found, result: 'ok' };
  return { check, found, result: free < least ? 'error' : 'warning', remedy };
}

/** A certificate. Times in ms. */
export interface CertificateFact {
  /** The subject of the sentence: `the certificate of node shop-1`. */
  what: string;
  endsAt: number;
}

/** `soonMs`: a certificate that ends within this time is a warning. */
interface ExpiryRules {
  check: string;
  now: number;
  soonMs: number;
  /** What to do about a certificate that has expired, and about one that ends soon. */
  remedies: { expired: string; soon: string };
}

export function expiryFinding(
  { what, endsAt }: CertificateFact,
  { check, now, soonMs, remedies }: ExpiryRules,
): Finding {
  const time = new Date(endsAt).toISOString();
  if (endsAt <= now)
    return { check, found: `${what} expired at ${time}`, result: 'error', remedy: remedies.expired };
  const found = `${what} is valid until ${time}`;
  if (endsAt - now > soonMs) return { check, found, result: 'ok' };
  return { check, found, result: 'warning', remedy: remedies.soon };
}

/** Returns the size in the unit in which it has few digits: `512 MiB`, `2.5 GiB`. */
export function sizeText(bytes: number): string {
  return bytes < 1024 * MIB ? `${Math.round(bytes / MIB)} MiB` : `${(bytes / (1024 * MIB)).toFixed(1)} GiB`;
}
