/**
 * AES-256-GCM under a key that all members have and etcd does not: `DATA/pki/cluster.key`. A reader of etcd learns
 * nothing, and a writer of etcd cannot forge a value or move it to another name.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readIfPresent, writePrivateFile } from '../../../shared/process/files/private-file.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 1;

/** A value that was not sealed under this key and name, or a key file that cannot be used. */
export class SealError extends Error {
  override name = 'SealError';
}

export function clusterKeyPath(dataDir: string): string {
  return join(dataDir, 'pki', 'cluster.key');
}

/** Writes a new key, mode 0600. */
export async function createClusterKey(dataDir: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES);
  await writePrivateFile(clusterKeyPath(dataDir), `${key.toString('base64')}\n`);
  return key;
}

/** Throws SealError if the file is missing or damaged. */
export async function readClusterKey(dataDir: string): Promise<Buffer> {
  const path = clusterKeyPath(dataDir);
  const key = Buffer.from((await readIfPresent(path)) ?? '', 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new SealError(`${path} is missing or damaged: copy it from another coordinator of this fleet`);
}

/** `name` is authenticated: the result opens only with the same name. Pure but for the nonce. */
export function sealValue(key: Buffer, name: string, plain: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), sealed]);
}

/** Throws SealError. */
export function openValue(key: Buffer, name: string, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed);
  const start = 1 + NONCE_BYTES + TAG_BYTES;
  if (bytes.length < start || bytes[0] !== FORMAT) throw new SealError(`${name} has an unknown format`);
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(1, 1 + NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(1 + NONCE_BYTES, start));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]);
  } catch {
    // GCM reports only that the authentication tag does not match.
    throw new SealError(`${name} was changed, or was sealed under another key`);
  }
}
