/** Certificates for programs that are servers and clients of each other, such as the members of etcd. */
import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { generateKeyPem, importKey, SIGNATURE_ALGORITHM } from '../../shared/process/files/private-key.js';
import { issuerName } from './client-certificates.js';
import { days, type KeyPair, serialNumber, validity } from './key-pair.js';

const LIFETIME_DAYS = 3650;

/**
 * Returns a new key and a certificate of `ca` for server and client authentication. `names`: DNS names and addresses.
 * `now` in ms. It is valid for ten years or as long as the authority's certificate.
 */
export async function issueMachineCertificate(
  ca: KeyPair,
  { commonName, names }: { commonName: string; names: readonly string[] },
  now: number,
): Promise<KeyPair> {
  const authority = new X509Certificate(ca.cert);
  const [{ privateKey }, key] = await Promise.all([importKey(ca.key), generateKeyPem()]);
  const { notBefore, notAfter } = validity(now, days(LIFETIME_DAYS));
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: `CN=${commonName}`,
    issuer: issuerName(authority),
    notBefore,
    notAfter: new Date(Math.min(notAfter.getTime(), Date.parse(authority.validTo))),
    publicKey: (await importKey(key)).publicKey,
    signingKey: privateKey,
    signingAlgorithm: SIGNATURE_ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value })),
      ),
    ],
  });
  return { cert: `${certificate.toString('pem')}\n`, key };
}
