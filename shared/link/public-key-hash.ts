/** How a joining host recognises its coordinator before it trusts any certificate. */
import { createHash, type X509Certificate } from 'node:crypto';

/** Lower-case hex SHA-256 of the certificate's SubjectPublicKeyInfo (DER): the last part of a join token, as kubeadm pins. */
export function publicKeyHash(certificate: X509Certificate): string {
  const key = certificate.publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('hex');
}
