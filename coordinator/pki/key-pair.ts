/** What certificates are made of: serial numbers, validity, and the PEM texts that they are kept in. */
import 'reflect-metadata';
import { randomBytes, X509Certificate } from 'node:crypto';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Clocks of hosts differ: certificates that they look at are valid from so long before they were made, ms. */
const BACKDATE_MS = DAY_MS;

/**
 * So far the clock may have been set since the last certificate was made, and who goes by the other time still finds the new one
 * valid. Apple's clients take none of a server of more than 825 days.
 */
export const MAX_CLOCK_ERROR_DAYS = 400;

/** PEM texts of a certificate and its key. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** Positive and unique: 127 random bits. */
export function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

/** From `backdateMs` before `now` for `lifetimeMs` after it. */
export function validity(
  now: number,
  lifetimeMs: number,
  backdateMs = BACKDATE_MS,
): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now - backdateMs), notAfter: new Date(now + lifetimeMs) };
}

/** In ms. */
export function days(count: number): number {
  return count * DAY_MS;
}

/** Every certificate in a PEM text. Throws when one cannot be read. */
export function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
