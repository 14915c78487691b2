/** Parts of certificates: serial numbers, validity, key pairs in PEM. */
import 'reflect-metadata';
import { randomBytes, X509Certificate } from 'node:crypto';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Certificates are valid from this long before their creation, ms, because the clocks of hosts differ. */
const BACKDATE_MS = DAY_MS;

/**
 * Largest clock correction for which both the old and the new clock accept a new certificate. Apple's clients refuse
 * server certificates with more than 825 days.
 */
export const MAX_CLOCK_ERROR_DAYS = 400;

/** A certificate and its key in PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** Returns a positive, unique number with 127 random bits. */
export function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

/** Returns the validity from `backdateMs` before `now` to `lifetimeMs` after it. */
export function validity(
  now: number,
  lifetimeMs: number,
  backdateMs = BACKDATE_MS,
): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now - backdateMs), notAfter: new Date(now + lifetimeMs) };
}

/** Converts days to ms. */
export function days(count: number): number {
  return count * DAY_MS;
}

/** Returns all certificates in a PEM text. Throws if one cannot be parsed. */
export function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
