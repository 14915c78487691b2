/** File format of one ConfigMap or Secret: a header line and the object. A Secret is encrypted. */
import { createHash } from 'node:crypto';
import type { ConfigMap, Secret } from '../../shared/kube/objects/config-types.js';
import type { AtRestCipher } from './at-rest-cipher.js';

const FORMAT = 1;

/** An object that the hub sent to this host. */
export interface CachedConfig {
  uid: string;
  /** Hash of the received bytes. */
  digest: string;
  object: ConfigMap | Secret;
}

interface Heading {
  format: number;
  sealed: boolean;
  /** Of the body, hex. */
  sha256: string;
}

/** Unreadable: damaged. Encrypted: with a key that this host does not have now. */
type DecodedConfig = { kind: 'decoded'; cached: CachedConfig } | { kind: 'unreadable' } | { kind: 'sealed' };

/** Returns the file's bytes. A Secret's digest is encrypted too: it would allow guessing a short password. */
export function encodeConfigFile(cached: CachedConfig, cipher: AtRestCipher): Buffer {
  const sealed = cached.object.kind === 'Secret';
  const plain = Buffer.from(JSON.stringify(cached));
  const body = sealed ? cipher.encrypt(plain, cached.uid) : plain;
  const heading: Heading = { format: FORMAT, sealed, sha256: checksum(body) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(heading)}\n`), body]);
}

/** Decodes what `encodeConfigFile` returned for the object with this uid. */
export function decodeConfigFile(bytes: Buffer, uid: string, cipher: AtRestCipher): DecodedConfig {
  const end = bytes.indexOf('\n');
  const body = bytes.subarray(end + 1);
  try {
    const { format, sealed, sha256 } = JSON.parse(bytes.toString('utf8', 0, end)) as Heading;
    if (format !== FORMAT || sha256 !== checksum(body)) return { kind: 'unreadable' };
    const plain = sealed ? cipher.decrypt(body, uid) : body;
    if (!plain) return { kind: 'sealed' };
    const cached = JSON.parse(plain.toString('utf8')) as CachedConfig;
    return cached.uid === uid ? { kind: 'decoded', cached } : { kind: 'unreadable' };
  } catch {
    // The file is truncated or foreign. The parser's message is dropped, because it could quote a Secret.
    return { kind: 'unreadable' };
  }
}

function checksum(body: Buffer): string {
  return createHash('sha256').update(body).digest('hex');
}
