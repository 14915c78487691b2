/**
 * Encryption of stored values: AES-256-GCM with keys outside the database. The store key is authenticated data, so a
 * value cannot be moved to another key.
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Change } from '../store.js';
import { StoreError } from '../store-error.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** JSON cannot begin like this. The key's id, a colon, and base64 of nonce, tag and ciphertext follow. */
const MARK = 'encrypted:1:';

/** An encryption key. Values name it by `id`. */
export interface EncryptionKey {
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

export class ValueEncryption {
  readonly #prefixes: readonly string[];
  readonly #keys: readonly [EncryptionKey, ...EncryptionKey[]];

  /** Covers values whose store keys begin with one of `prefixes`. The first key encrypts; all keys decrypt. */
  constructor(prefixes: readonly string[], keys: readonly [EncryptionKey, ...EncryptionKey[]]) {
    this.#prefixes = prefixes;
    this.#keys = keys;
  }

  get prefixes(): readonly string[] {
    return this.#prefixes;
  }

  /** Returns the value in its stored form. Values outside the prefixes stay in plain text. */
  encrypt(key: string, value: Buffer): Buffer {
    if (!this.#prefixes.some((prefix) => key.startsWith(prefix))) return value;
    const [{ id, key: secret }] = this.#keys;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, secret, nonce).setAAD(Buffer.from(key));
    const sealed = Buffer.concat([cipher.update(value), cipher.final()]);
    const text = Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
    return Buffer.from(`${MARK}${id}:${text}`);
  }

  /** Returns the value in plain text. Throws StoreError `damaged` if no key decrypts it. */
  decrypt(key: string, stored: Buffer): Buffer {
    if (!isEncrypted(stored)) return stored;
    const text = stored.toString('latin1', MARK.length);
    const colon = text.indexOf(':');
    const id = text.slice(0, colon);
    const known = this.#keys.find((each) => each.id === id);
    if (!known) throw unknownKey(id);
    const bytes = Buffer.from(text.slice(colon + 1), 'base64');
    const decipher = createDecipheriv(CIPHER, known.key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(key)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    } catch {
      // GCM reports only that the authentication tag does not match.
      throw new StoreError('damaged', `the encrypted value ${key} was changed or belongs to another key`);
    }
  }

  /**
   * True if the value is stored as `encrypt` would store it: with the first key, or in plain text outside the prefixes.
   */
  isCurrent(key: string, stored: Buffer): boolean {
    if (!this.#prefixes.some((prefix) => key.startsWith(prefix))) return true;
    const mark = `${MARK}${this.#keys[0].id}:`;
    return stored.subarray(0, mark.length).equals(Buffer.from(mark));
  }
}

/** True for a value that `encrypt` produced. */
function isEncrypted(stored: Buffer): boolean {
  return stored.subarray(0, MARK.length).equals(Buffer.from(MARK));
}

function unknownKey(id: string): StoreError {
  return new StoreError(
    'damaged',
    `Secrets in the database are encrypted with key ${id}, which the key file does not contain: restore that file from a backup`,
  );
}

/** Returns the value in plain text. Throws StoreError `damaged` if it is encrypted and its key is missing. */
export function decryptedValue<T extends { key: string; value: Buffer }>(
  encryption: ValueEncryption | undefined,
  stored: T,
): T {
  const { key, value } = stored;
  if (!isEncrypted(value)) return stored;
  if (!encryption)
    throw new StoreError('damaged', `the value ${key} is encrypted, but no keys are configured`);
  return { ...stored, value: encryption.decrypt(key, value) };
}

/** Decrypts a change that the worker thread read from history. Throws like `decryptedValue`. */
export function decryptedChange(encryption: ValueEncryption | undefined, change: Change): Change {
  const { key, value, previous } = change;
  if (!encryption) return change;
  return {
    ...change,
    ...(value && { value: encryption.decrypt(key, value) }),
    ...(previous && { previous: decryptedValue(encryption, previous) }),
  };
}
