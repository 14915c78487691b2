/** Certificates of servers that tests start, such as admission webhooks. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';

/** Returns a certificate for these DNS names, with its key. */
export async function selfSignedCertificate(
  ...dnsNames: readonly string[]
): Promise<{ cert: string; key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const names = dnsNames.map((value) => ({ type: 'dns' as const, value }));
  const made = await X509CertificateGenerator.createSelfSigned({
    ...{ serialNumber: '01', name: 'CN=hook', signingAlgorithm: algorithm, keys },
    ...{ notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) },
    extensions: [new SubjectAlternativeNameExtension(names)],
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    cert: made.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
  };
}
