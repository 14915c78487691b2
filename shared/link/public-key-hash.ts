/** How a joining host recognises its coordinator before it trusts any certificate, and a coordinator the key of a host. */
import { createHash, type X509Certificate } from 'node:crypto';

/** Lower-case hex SHA-256 of the certificate's SubjectPublicKeyInfo (DER): the last part of a join token, as kubeadm pins. */
export function publicKeyHash(certificate: X509Certificate): string {
  return createHash('sha256').update(publicKeyInfo(certificate.raw)).digest('hex');
}

/** Identifier octet of `[0] EXPLICIT`, that of the version. */
const VERSION_TAG = 0xa0;
/** Serial number, signature algorithm, issuer, validity, subject: what stands before the key (RFC 5280, 4.1). */
const FIELDS_BEFORE_KEY = 5;

/**
 * The SubjectPublicKeyInfo of a certificate that OpenSSL has read, as it stands there: exporting the key would cost thirty
 * times as much, and each link needs it. Throws RangeError when the DER ends before it.
 */
export function publicKeyInfo(der: Buffer): Buffer {
  const certificate = elementAt(der, 0);
  const signed = elementAt(der, certificate.content);
  let at = signed.content;
  if (der[at] === VERSION_TAG) at = elementAt(der, at).end;
  for (let field = 0; field < FIELDS_BEFORE_KEY; field += 1) at = elementAt(der, at).end;
  return der.subarray(at, elementAt(der, at).end);
}

/** Where the content of an element begins and where it ends (X.690, 8.1.3; identifiers of one octet). */
function elementAt(der: Buffer, at: number): { content: number; end: number } {
  const first = der.readUInt8(at + 1);
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const content = at + 2 + lengthBytes;
  const end = content + (lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes));
  if (end > der.length) throw new RangeError('the certificate ends before its key');
  return { content, end };
}
