/**
 * Values that do not lie on the disk in plain: AES-256-GCM under keys that are kept outside of the database. The key of a
 * value is bound to it, so that none can be put in another's place.
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Change } from '../store.js';
import { StoreError } from '../store-error.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** No JSON begins so. Then the key's id, a colon, and base64 of nonce, tag and ciphertext. */
const MARK = 'encrypted:1:';

/** A key and the name by which values say that they are under it. */
export interface EncryptionKey {
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

export class ValueEncryption {
  readonly #prefixes: readonly string[];
  readonly #keys: readonly [EncryptionKey, ...EncryptionKey[]];

  /** Covers the values whose keys begin with one of `prefixes`. The first key seals, all of them open. */
  constructor(prefixes: readonly string[], keys: readonly [EncryptionKey, ...EncryptionKey[]]) {
    this.#prefixes = prefixes;
    this.#keys = keys;
  }

  get prefixes(): readonly string[] {
    return this.#prefixes;
  }

  /** The value as it is to lie on the disk. */
  encrypt(key: string, value: Buffer): Buffer {
    if (!this.#prefixes.some((prefix) => key.startsWith(prefix))) return value;
    const [{ id, key: secret }] = this.#keys;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, secret, nonce).setAAD(Buffer.from(key));
    const sealed = Buffer.concat([cipher.update(value), cipher.final()]);
    const text = Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
    return Buffer.from(`${MARK}${id}:${text}`);
  }

  /** The value as it was given. Throws StoreError `damaged` when no key opens it. */
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
      // The tag does not fit: all that GCM says of wrong bytes.
      throw new StoreError('damaged', `the encrypted value ${key} was changed, or is another's`);
    }
  }

  /** True when the value lies as `seal` would lay it: under the first key, or in plain where nothing is covered. */
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
    `the database holds Secrets that are encrypted under the key ${id}, which the key file does not hold: put that file back`,
  );
}

/** Returns the value in plain text. Throws StoreError `damaged` if it is encrypted and its key is missing. */
export function decryptedValue<T extends { key: string; value: Buffer }>(
  encryption: ValueEncryption | undefined,
  stored: T,
): T {
  const { key, value } = stored;
  if (!isEncrypted(value)) return stored;
  if (!encryption) throw new StoreError('damaged', `the value ${key} is encrypted, and there is no key`);
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
