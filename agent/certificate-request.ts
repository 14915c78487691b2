/** The host's own key, and the request that asks the coordinator to certify it. The key is made here and leaves the host never. */
import { createHash, createPrivateKey, createPublicKey, webcrypto } from 'node:crypto';

const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const;

/** PEM (PKCS #8) of a new private key. */
export async function newHostKey(): Promise<string> {
  const { privateKey } = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

/** Lower-case hex SHA-256 of the public half (SubjectPublicKeyInfo DER). */
export function publicKeyHashOf(keyPem: string): string {
  const der = createPublicKey(keyPem).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex');
}

/** PEM of a request (PKCS #10) for the client certificate of a node, signed by `keyPem`. */
export async function certificateRequest(keyPem: string, node: string): Promise<string> {
  // Loaded here alone: asked for once a year, its memory and start-up time are too much for every agent.
  await import('reflect-metadata');
  const { Pkcs10CertificateRequestGenerator } = await import('@peculiar/x509');
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ O: ['system:nodes'] }, { CN: [`system:node:${node}`] }],
    keys: await keyPair(keyPem),
    signingAlgorithm: SIGNING,
  });
  return request.toString('pem');
}

async function keyPair(keyPem: string): Promise<webcrypto.CryptoKeyPair> {
  const privateDer = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  const publicDer = createPublicKey(keyPem).export({ type: 'spki', format: 'der' });
  const [privateKey, publicKey] = await Promise.all([
    webcrypto.subtle.importKey('pkcs8', privateDer, EC, true, ['sign']),
    webcrypto.subtle.importKey('spki', publicDer, EC, true, ['verify']),
  ]);
  return { privateKey, publicKey };
}
