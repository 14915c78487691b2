/** Private keys of both programs: ECDSA on P-256, stored as PKCS #8 in PEM. */
import { createPrivateKey, createPublicKey, webcrypto } from 'node:crypto';

const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const;

export const SIGNATURE_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' } as const;

function pem(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** Returns the PEM of a new private key. */
export async function generateKeyPem(): Promise<string> {
  const { privateKey } = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
  return pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', privateKey));
}

/** Returns both halves of a private key in PEM. Throws if it is invalid or not on P-256. */
export async function importKey(keyPem: string): Promise<webcrypto.CryptoKeyPair> {
  const privateDer = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  const publicDer = createPublicKey(keyPem).export({ type: 'spki', format: 'der' });
  const [privateKey, publicKey] = await Promise.all([
    webcrypto.subtle.importKey('pkcs8', privateDer, EC, true, ['sign']),
    webcrypto.subtle.importKey('spki', publicDer, EC, true, ['verify']),
  ]);
  return { privateKey, publicKey };
}
