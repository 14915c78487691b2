/** Who the other end of a TLS connection proved to be. */
import type { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import { publicKeyHash } from '../../shared/link/public-key-hash.js';

/** A client certificate of our own authority, in its time, whose key the other end holds. */
export interface PeerCertificate {
  /** The user. */
  commonName: string;
  /** The user's groups. */
  organizations: string[];
  /** Lower-case hex SHA-256 of its public key (SubjectPublicKeyInfo DER). */
  keyHash: string;
}

/**
 * What the other end of a server's socket proved; undefined without a certificate, and with one that is not good at
 * `now`. A resumed connection proves what the first one did, so the time is looked at here.
 */
export function peerCertificateOf(socket: unknown, now: number): PeerCertificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  return certificate && isInTime(certificate, now) ? subjectOf(certificate) : undefined;
}

/** Whose certificate it is; who signed it, and when it ends, was looked at before. */
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

/** A line of nothing that Node would escape or join: letters of names. */
const PLAIN_LINE = /^(CN|O)=([A-Za-z0-9:._-]+)$/;

/**
 * The subject as the legacy object has it, at a thirtieth of the cost, which each link pays; undefined for one that is
 * not plain: a value of its own lines, or one that could be read in two ways, is OpenSSL's to take apart.
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

/** True between the certificate's two ends. */
export function isInTime(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now && now < Date.parse(certificate.validTo);
}

/** Node tells of a part that occurs several times as a list, whatever its types say. */
function listOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
