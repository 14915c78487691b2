/** Public key hashes, by which a joining host and its coordinator recognise each other. */
import { createHash, type X509Certificate } from 'node:crypto';

/** Returns the hex SHA-256 of the SubjectPublicKeyInfo (DER), which ends join tokens like kubeadm's pins. */
export function publicKeyHash(certificate: X509Certificate): string {
  return createHash('sha256').update(publicKeyInfo(certificate.raw)).digest('hex');
}

/** Identifier octet of `[0] EXPLICIT`, which precedes the version. */
const VERSION_TAG = 0xa0;
/** Serial number, signature algorithm, issuer, validity and subject precede the key (RFC 5280, 4.1). */
const FIELDS_BEFORE_KEY = 5;

/**
 * Returns the SubjectPublicKeyInfo bytes of a certificate that OpenSSL has validated. Exporting the key instead is 30
 * times slower, and each connection needs it. Throws RangeError if the DER is truncated.
 */
export function publicKeyInfo(der: Buffer): Buffer {
  const certificate = elementAt(der, 0);
  const signed = elementAt(der, certificate.content);
  let at = signed.content;
  if (der[at] === VERSION_TAG) at = elementAt(der, at).end;
  for (let field = 0; field < FIELDS_BEFORE_KEY; field += 1) at = elementAt(der, at).end;
  return der.subarray(at, elementAt(der, at).end);
}

/** Returns start and end of an element's content (X.690, 8.1.3; one-octet identifiers only). */
function elementAt(der: Buffer, at: number): { content: number; end: number } {
  const first = der.readUInt8(at + 1);
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const content = at + 2 + lengthBytes;
  const end = content + (lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes));
  if (end > der.length) throw new RangeError('the certificate ends before its public key');
  return { content, end };
}
