/**
 * The host's own encryption key. It is created once, sealed by the TPM if there is one, and otherwise stored in a
 * private file.
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import type { Logger } from '../../shared/process/output/logger.js';
import { HOST_KEY_BYTES } from './at-rest-cipher.js';
import type { KeySealer } from './tpm-sealer.js';

/** Appended to the plain key's path. */
const SEALED_SUFFIX = '.tpm';

/**
 * Reads or creates the key. A plain key is sealed as soon as a sealer is available. If a sealed key cannot be unsealed,
 * this process uses a temporary key; Secrets encrypted with the sealed one remain on disk.
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
    if (!sealer) throw new Error('there is no usable TPM');
    const key = keyOf(await sealer.unseal(Buffer.from(sealed)));
    if (key) return key;
    throw new Error('the unsealed bytes are no key');
  } catch (error) {
    log.error({ err: error }, "the host's key cannot be unsealed: stored Secrets wait for the coordinator");
    return undefined;
  }
}

async function isSealed(key: Buffer, path: string, sealer: KeySealer, log: Logger): Promise<boolean> {
  try {
    await writePrivateFile(path, await sealer.seal(key));
    return true;
  } catch (error) {
    log.warn({ err: error }, "the TPM cannot seal the host's key: the key is stored in a private file");
    return false;
  }
}

function keyOf(bytes: Buffer): Buffer | undefined {
  return bytes.length === HOST_KEY_BYTES ? bytes : undefined;
}
