/** Serving certificates of hosts, for the kubelet's port. */
import { NODE_USER_PREFIX, NODES_GROUP } from '../../shared/kube/access/node-identity.js';
import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { importKey, SIGNATURE_ALGORITHM } from '../../shared/process/files/private-key.js';
import { issuerName } from './client-certificates.js';
import { certificatesIn, days, type KeyPair, serialNumber, validity } from './key-pair.js';

/** Like kube-controller-manager's signer of kubelet-serving certificates. */
const LIFETIME_MS = days(365);

/**
 * Signs a checked request for the server of a node with these names. Only the request's key is used: agents recognize
 * the certificate of a host by its subject, so the host must not choose the form of it.
 */
export async function signNodeServingCertificate(
  authority: KeyPair,
  { node, requestPem }: { node: string; requestPem: string },
  names: { dns: readonly string[]; ips: readonly string[] },
  now: number,
): Promise<string> {
  const request = new Pkcs10CertificateRequest(requestPem);
  const issuer = new X509Certificate(authority.cert);
  const wished = validity(now, LIFETIME_MS);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: [{ O: [NODES_GROUP] }, { CN: [`${NODE_USER_PREFIX}${node}`] }],
    issuer: issuerName(issuer),
    notBefore: wished.notBefore,
    // A certificate must not outlive its authority's.
    notAfter: new Date(Math.min(wished.notAfter.getTime(), Date.parse(issuer.validTo))),
    publicKey: request.publicKey,
    signingKey: (await importKey(authority.key)).privateKey,
    signingAlgorithm: SIGNATURE_ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        ...names.dns.map((value) => ({ type: 'dns' as const, value })),
        ...names.ips.map((value) => ({ type: 'ip' as const, value })),
      ]),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** True if the certificate of a server (PEM, with or without its chain) is valid for the name or address. */
export function isServedName(servingPem: string, name: string): boolean {
  const [certificate] = certificatesIn(servingPem);
  if (!certificate) return false;
  return (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined;
}
