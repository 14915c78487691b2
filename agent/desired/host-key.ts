/** The host's own key, which never leaves it: made once, in a file for its owner alone. */
import { randomBytes } from 'node:crypto';
import { readIfPresent, writePrivateFile } from '../../shared/process/private-file.js';
import { HOST_KEY_BYTES } from './secret-box.js';

/** Reads the key, or makes it where there is none yet. One that cannot be understood is replaced: what it sealed is given anew. */
export async function loadHostKey(path: string): Promise<Buffer> {
  const present = Buffer.from((await readIfPresent(path)) ?? '', 'base64');
  if (present.length === HOST_KEY_BYTES) return present;
  const key = randomBytes(HOST_KEY_BYTES);
  await writePrivateFile(path, `${key.toString('base64')}\n`);
  return key;
}
