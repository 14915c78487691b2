/** The signing keys of ServiceAccount tokens: `DATA/pki/service-accounts.key`. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';

/** A P-256 key pair. Each token contains the `id` of its key. */
export interface SigningKey {
  id: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----/g;

/** Loads the keys, or creates the file with one. The first key signs, all verify. Throws `ExitError`. */
export async function loadSigningKeys(pkiDirectory: string): Promise<readonly [SigningKey, ...SigningKey[]]> {
  const path = join(pkiDirectory, 'service-accounts.key');
  await mkdir(pkiDirectory, { recursive: true, mode: 0o700 });
  const present = await readIfPresent(path);
  if (present === undefined) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writePrivateFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    return [signingKey(privateKey)];
  }
  try {
    const [first, ...others] = (present.match(PEM) ?? []).map((pem) => signingKey(createPrivateKey(pem)));
    if (first) return [first, ...others];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw unusable(path, why);
  }
  throw unusable(path, 'it contains no private key');
}

function unusable(path: string, why: string): ExitError {
  return new ExitError(
    EXIT_CODES.data,
    `${path} cannot be used: ${why}. Restore it from a backup, or remove it: the Pods then get new tokens.`,
  );
}

function signingKey(privateKey: KeyObject): SigningKey {
  if (privateKey.asymmetricKeyType !== 'ec') throw new Error('a key is not on the curve P-256');
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return { id: createHash('sha256').update(der).digest('base64url'), privateKey, publicKey };
}
