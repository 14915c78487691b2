/** The request that asks the coordinator to certify the host's own key, which is made on the host and leaves it never. */
import { createHash, createPublicKey } from 'node:crypto';
import { importKey, SIGNATURE_ALGORITHM } from '../../shared/process/files/private-key.js';

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
    keys: await importKey(keyPem),
    signingAlgorithm: SIGNATURE_ALGORITHM,
  });
  return request.toString('pem');
}
