/** Certificate request for the host's own key, which never leaves the host. */

import { createHash, createPublicKey } from 'node:crypto';
import { NODE_USER_PREFIX, NODES_GROUP } from '../../shared/kube/access/node-identity.js';
import { importKey, SIGNATURE_ALGORITHM } from '../../shared/process/files/private-key.js';

/** Returns the lower-case hex SHA-256 of the public key (SubjectPublicKeyInfo DER). */
export function publicKeyHashOf(keyPem: string): string {
  const der = createPublicKey(keyPem).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex');
}

/** Returns the PEM of a request (PKCS #10) for a node's client certificate, signed by `keyPem`. */
export async function certificateRequest(keyPem: string, node: string): Promise<string> {
  // Loaded on demand: needed about once a year, it would cost every agent memory and start-up time.
  await import('reflect-metadata');
  const { Pkcs10CertificateRequestGenerator } = await import('@peculiar/x509');
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ O: [NODES_GROUP] }, { CN: [`${NODE_USER_PREFIX}${node}`] }],
    keys: await importKey(keyPem),
    signingAlgorithm: SIGNATURE_ALGORITHM,
  });
  return request.toString('pem');
}
