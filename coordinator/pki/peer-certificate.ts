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
  const { subject } = certificate.toLegacyObject();
  const commonNames = listOf(subject?.CN);
  if (commonNames.length !== 1 || !commonNames[0]) return undefined;
  return {
    commonName: commonNames[0],
    organizations: listOf(subject?.O),
    keyHash: publicKeyHash(certificate),
  };
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
