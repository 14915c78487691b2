/** The identity that the peer of a TLS connection has proved. */
import type { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';

/** The subject of a valid client certificate of the fleet's authority. The peer has proved that it has the key. */
export interface PeerCertificate {
  /** The user name. */
  commonName: string;
  /** The groups of the user. */
  organizations: string[];
  /** Lower-case hex SHA-256 of the public key (SubjectPublicKeyInfo DER). */
  keyHash: string;
}

/**
 * Returns the peer's verified identity, or undefined without a certificate or with one that is not valid at `now`. A
 * resumed connection has the identity of the first one, so the validity is checked here again.
 */
export function peerCertificateOf(socket: unknown, now: number): PeerCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  return certificate && isInTime(certificate, now) ? subjectOf(certificate) : undefined;
}

/** Returns the subject. The caller has already verified signature and validity. */
export function subjectOf(certificate: X509Certificate): PeerCertificate | undefined {
  const { CN, O } = plainSubject(certificate.subject) ?? certificate.toLegacyObject().subject ?? {};
  const commonNames = listOf(CN);
  if (commonNames.length !== 1 || !commonNames[0]) return undefined;
  return {
    commonName: commonNames[0],
    organizations: listOf(O),
    keyHash: publicKeyHash(certificate),
  };
}

/** Lines without characters that Node.js escapes or joins. */
const PLAIN_LINE = /^(CN|O)=([A-Za-z0-9:._-]+)$/;

/**
 * Returns the subject like the legacy object of Node.js, thirty times faster, because every link needs it. Returns undefined
 * for unusual or ambiguous subjects, which OpenSSL must parse.
 */
export function plainSubject(subject: string): { CN: string[]; O: string[] } | undefined {
  const parts = { CN: [] as string[], O: [] as string[] };
  for (const line of subject.split('\n')) {
    const [, name, value] = PLAIN_LINE.exec(line) ?? [];
    if (value === undefined || (name !== 'CN' && name !== 'O')) return undefined;
    parts[name].push(value);
  }
  return parts;
}

export function isInTime(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now && now < Date.parse(certificate.validTo);
}

/** Despite its types, Node.js returns a list for repeated parts. */
function listOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
