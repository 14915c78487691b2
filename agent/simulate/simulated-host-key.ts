/** Who a pretended host is, with nothing on disk: the same for the same token and name. */
import { createECDH, createHmac, createPrivateKey } from 'node:crypto';

const COORDINATE_BYTES = 32;

/** PEM (PKCS #8) of a P-256 key, as real hosts make theirs. */
export function simulatedHostKey(bearer: string, node: string): string {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(createHmac('sha256', bearer).update(`key of ${node}`).digest());
  const text = (bytes: Buffer) => bytes.toString('base64url');
  // An octet that says "uncompressed", then the two coordinates (SEC 1, 2.3.3).
  const point = curve.getPublicKey().subarray(1);
  const key = {
    kty: 'EC',
    crv: 'P-256',
    d: text(curve.getPrivateKey()),
    x: text(point.subarray(0, COORDINATE_BYTES)),
    y: text(point.subarray(COORDINATE_BYTES)),
  };
  return createPrivateKey({ key, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' }).toString();
}
