/** Client certificates: parsing signing requests and signing. */
import 'reflect-metadata';
import { createHash, X509Certificate } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  Pkcs10CertificateRequestGenerator,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { importKey, SIGNATURE_ALGORITHM } from '../../shared/process/files/private-key.js';
import { type KeyPair, serialNumber, validity } from './key-pair.js';

/** Requests have a few hundred bytes, or more with many groups. */
const MAX_REQUEST_CHARACTERS = 16_384;

/** Only coordinators check these certificates, so a short time suffices, like upstream's signer. */
const BACKDATE_MS = 5 * 60_000;

/** The content of a certificate signing request (PKCS #10) with a verified signature. */
export interface SigningRequest {
  /** The user name. */
  commonName: string;
  /** The groups of the user. */
  organizations: string[];
  /** True if it requests anything but common name and organizations. */
  requestsMore: boolean;
  /** Lower-case hex SHA-256 of the public key (SubjectPublicKeyInfo DER). */
  keyHash: string;
}

/** A certificate in PEM and its end, ms since the epoch. */
export interface IssuedCertificate {
  certificate: string;
  notAfterMs: number;
}

/** Parses a request in PEM. Throws an Error with a short reason. */
export async function readSigningRequest(requestPem: string): Promise<SigningRequest> {
  const request = await verified(requestPem);
  const parts = request.subjectName.toJSON().flatMap((part) => Object.entries(part));
  const valuesOf = (type: string) => parts.filter(([key]) => key === type).flatMap(([, values]) => values);
  return {
    commonName: valuesOf('CN')[0] ?? '',
    organizations: valuesOf('O'),
    requestsMore:
      request.extensions.length > 0 ||
      valuesOf('CN').length !== 1 ||
      // Programs print the parts of a multi-valued RDN in one line and then miss the group.
      request.subjectName.toJSON().some((part) => Object.values(part).flat().length !== 1) ||
      parts.some(([key]) => key !== 'CN' && key !== 'O'),
    keyHash: createHash('sha256').update(Buffer.from(request.publicKey.rawData)).digest('hex'),
  };
}

/** Returns a request for a certificate of this user and groups, signed with their key (PEM). */
export async function makeSigningRequest(
  keyPem: string,
  subject: { commonName: string; organizations: readonly string[] },
): Promise<string> {
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [...subject.organizations.map((group) => ({ O: [group] })), { CN: [subject.commonName] }],
    keys: await importKey(keyPem),
    signingAlgorithm: SIGNATURE_ALGORITHM,
  });
  return request.toString('pem');
}

/** Signs a parsed request for a client. Only its subject and key are used. */
export async function signClientCertificate(
  authority: KeyPair,
  requestPem: string,
  times: { now: number; lifetimeMs: number },
): Promise<IssuedCertificate> {
  const request = await verified(requestPem);
  const { privateKey } = await importKey(authority.key);
  const issuer = new X509Certificate(authority.cert);
  const wished = validity(times.now, times.lifetimeMs, BACKDATE_MS);
  // A certificate must not outlive its authority's.
  const notAfter = new Date(Math.min(wished.notAfter.getTime(), Date.parse(issuer.validTo)));
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: request.subjectName,
    issuer: issuerName(issuer),
    notBefore: wished.notBefore,
    notAfter,
    publicKey: request.publicKey,
    signingKey: privateKey,
    signingAlgorithm: SIGNATURE_ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth]),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, notAfterMs: notAfter.getTime() };
}

/** The subject of the authority has only a common name. */
export function issuerName(authority: X509Certificate): string {
  return authority.subject.split('\n').join(',');
}

async function verified(requestPem: string): Promise<Pkcs10CertificateRequest> {
  if (requestPem.length > MAX_REQUEST_CHARACTERS) throw new Error('it is too long');
  let request: Pkcs10CertificateRequest;
  try {
    request = new Pkcs10CertificateRequest(requestPem);
  } catch {
    throw new Error('it is not a PKCS #10 request in PEM');
  }
  let isSigned: boolean;
  try {
    isSigned = await request.verify();
  } catch {
    throw new Error('its key type is not supported');
  }
  if (!isSigned) throw new Error('its signature does not match its key');
  return request;
}
