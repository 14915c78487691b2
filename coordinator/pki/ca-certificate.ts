/**
 * Certificates of the fleet's certificate authority. Hosts and join tokens identify the authority by its key. A
 * certificate from the time of a wrong clock can therefore be replaced without breaking their trust.
 */
import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { importKey, SIGNATURE_ALGORITHM } from '../../shared/process/files/private-key.js';
import { issuerName } from './client-certificates.js';
import { days, type KeyPair, serialNumber, validity } from './key-pair.js';
import { isInTime } from './peer-certificate.js';

const CA_DAYS = 3650;

interface Validity {
  notBefore: Date;
  notAfter: Date;
}

/** Returns the PEM of a first certificate for this key; `name` is its subject. */
export function makeCaCertificate(keyPem: string, now: number, name = 'CN=everynode-ca'): Promise<string> {
  return selfSigned(keyPem, name, validity(now, days(CA_DAYS)));
}

/**
 * Returns the authority with a certificate that is valid at `now`. A reissued certificate also covers the validity of
 * the previous one, because either clock may have been wrong.
 */
export async function ensureValidCa(ca: KeyPair, now: number): Promise<KeyPair> {
  const present = new X509Certificate(ca.cert);
  if (isInTime(present, now)) return ca;
  const { notBefore, notAfter } = validity(now, days(CA_DAYS));
  const covering = {
    notBefore: new Date(Math.min(notBefore.getTime(), Date.parse(present.validFrom))),
    notAfter: new Date(Math.max(notAfter.getTime(), Date.parse(present.validTo))),
  };
  return { key: ca.key, cert: await selfSigned(ca.key, issuerName(present), covering) };
}

/** True for a reissued certificate. Hosts that were offline know the previous one. */
export function isReissued(caPem: string): boolean {
  const { validFrom, validTo } = new X509Certificate(caPem);
  // A first certificate is valid for ten years from a day before its creation.
  return Date.parse(validTo) - Date.parse(validFrom) > days(CA_DAYS + 1);
}

async function selfSigned(keyPem: string, name: string, times: Validity): Promise<string> {
  const keys = await importKey(keyPem);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name,
    ...times,
    keys,
    signingAlgorithm: SIGNATURE_ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}
