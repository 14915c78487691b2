/** The host's own key, which never leaves it: made once, sealed by the TPM where there is one, else in a file for its owner alone. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import type { Logger } from '../../shared/process/output/logger.js';
import { HOST_KEY_BYTES } from './at-rest-cipher.js';
import type { KeySealer } from './tpm-sealer.js';

/** Beside the plain key's path. */
const SEALED_SUFFIX = '.tpm';

/**
 * Reads the key, or makes it where there is none. A plain one is sealed as soon as there is a sealer. Where a sealed one
 * cannot be opened, this process gets a key of its own that is written nowhere: what the other sealed waits for it.
 */
export async function loadHostKey(path: string, sealer: KeySealer | undefined, log: Logger): Promise<Buffer> {
  const sealedPath = path + SEALED_SUFFIX;
  const sealed = await readIfPresent(sealedPath);
  if (sealed !== undefined) return (await opened(sealed, sealer, log)) ?? randomBytes(HOST_KEY_BYTES);
  const plain = keyOf(Buffer.from((await readIfPresent(path)) ?? '', 'base64'));
  const key = plain ?? randomBytes(HOST_KEY_BYTES);
  if (sealer && (await isSealed(key, sealedPath, sealer, log))) await rm(path, { force: true });
  else if (!plain) await writePrivateFile(path, `${key.toString('base64')}\n`);
  return key;
}

async function opened(
  sealed: string,
  sealer: KeySealer | undefined,
  log: Logger,
): Promise<Buffer | undefined> {
  try {
    if (!sealer) throw new Error('there is no TPM any more');
    const key = keyOf(await sealer.unseal(Buffer.from(sealed)));
    if (key) return key;
    throw new Error('what it holds is no key');
  } catch (error) {
    log.error(
      { err: error },
      "the host's key cannot be opened: Secrets of the cache wait for the coordinator",
    );
    return undefined;
  }
}

async function isSealed(key: Buffer, path: string, sealer: KeySealer, log: Logger): Promise<boolean> {
  try {
    await writePrivateFile(path, await sealer.seal(key));
    return true;
  } catch (error) {
    log.warn({ err: error }, "the TPM does not seal the host's key: it lies in a file for its owner alone");
    return false;
  }
}

function keyOf(bytes: Buffer): Buffer | undefined {
  return bytes.length === HOST_KEY_BYTES ? bytes : undefined;
}
