/** Keys and the texts that they are kept in: ECDSA on P-256, PKCS #8, PEM. */
import 'reflect-metadata';
import { createPrivateKey, createPublicKey, randomBytes, webcrypto, X509Certificate } from 'node:crypto';

const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const;

/** How everything here is signed. */
export const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Clocks of hosts differ: certificates that they look at are valid from so long before they were made, ms. */
const BACKDATE_MS = DAY_MS;

/** PEM texts of a certificate and its key. */
export interface KeyPair {
  cert: string;
  key: string;
}

function pem(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** PEM of a new private key. */
export async function newKey(): Promise<string> {
  const { privateKey } = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
  return pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', privateKey));
}

/** Both halves of a private key in PEM. Throws when it is none, or not on P-256. */
export async function importKey(keyPem: string): Promise<webcrypto.CryptoKeyPair> {
  const privateDer = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  const publicDer = createPublicKey(keyPem).export({ type: 'spki', format: 'der' });
  const [privateKey, publicKey] = await Promise.all([
    webcrypto.subtle.importKey('pkcs8', privateDer, EC, true, ['sign']),
    webcrypto.subtle.importKey('spki', publicDer, EC, true, ['verify']),
  ]);
  return { privateKey, publicKey };
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
