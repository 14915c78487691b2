/** The file with the encryption keys of Secrets: lines of `ID BASE64`. The first key encrypts. */
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import {
  makePrivateDirectory,
  readIfPresent,
  writePrivateFile,
} from '../../../shared/process/files/private-file.js';
import { StoreError, toStoreError } from '../store-error.js';
import type { EncryptionKey } from './value-encryption.js';

const KEY_BYTES = 32;
const ID_BYTES = 6;

function newLine(): string {
  return `${randomBytes(ID_BYTES).toString('hex')} ${randomBytes(KEY_BYTES).toString('base64')}\n`;
}

/** Reads the keys, or creates the file with one key and mode 0600. Throws StoreError `damaged`. */
export async function loadEncryptionKeys(
  path: string,
): Promise<readonly [EncryptionKey, ...EncryptionKey[]]> {
  try {
    return parseKeys((await readIfPresent(path)) ?? (await makeFile(path)), path);
  } catch (error) {
    throw toStoreError(error, dirname(path));
  }
}

async function makeFile(path: string): Promise<string> {
  const line = newLine();
  makePrivateDirectory(dirname(path));
  await writePrivateFile(path, line);
  return line;
}

/** Adds a new key in first place, which encrypts from the next start on. Returns the number of keys. */
export async function addEncryptionKey(path: string): Promise<number> {
  const present = (await readIfPresent(path)) ?? '';
  const text = newLine() + present;
  const { length } = parseKeys(text, path);
  await writePrivateFile(path, text);
  return length;
}

function parseKeys(text: string, path: string): readonly [EncryptionKey, ...EncryptionKey[]] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const [first, ...others] = lines.map((line, index) => {
    const [id = '', base64 = ''] = line.trim().split(/\s+/);
    const key = Buffer.from(base64, 'base64');
    if (!/^[0-9a-z]+$/.test(id) || key.length !== KEY_BYTES) {
      throw new StoreError(
        'damaged',
        `line ${index + 1} of ${path} is not a key: restore the file from a backup`,
      );
    }
    return { id, key };
  });
  if (!first) throw new StoreError('damaged', `${path} contains no key: restore the file from a backup`);
  return [first, ...others];
}
