/**
 * Values that do not lie on the disk in plain: AES-256-GCM under keys that are kept outside of the database. The key of a
 * value is bound to it, so that none can be put in another's place.
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Change } from '../store.js';
import { StoreError } from '../store-error.js';
import { refuseEncrypted } from './reencrypt-values.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** No JSON begins so. Then the key's id, a colon, and base64 of nonce, tag and ciphertext. */
const MARK = 'sealed:1:';

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

/** True for what a seal made. */
export function isEncrypted(stored: Buffer): boolean {
  return stored.subarray(0, MARK.length).equals(Buffer.from(MARK));
}

function unknownKey(id: string): StoreError {
  return new StoreError(
    'damaged',
    `the database holds Secrets that are encrypted under the key ${id}, which the key file does not hold: put that file back`,
  );
}

/** The value in plain. Throws `StoreError` when it is sealed and the key is not there. */
export function decryptedValue<T extends { key: string; value: Buffer }>(
  seal: ValueEncryption | undefined,
  stored: T,
): T {
  if (!seal) refuseEncrypted(stored.key, stored.value);
  const value = seal ? seal.decrypt(stored.key, stored.value) : stored.value;
  return value === stored.value ? stored : { ...stored, value };
}

/** A change of the history in plain, which the thread read as it lies on the disk. Throws as `openedValue`. */
export function decryptedChange(seal: ValueEncryption | undefined, change: Change): Change {
  const { key, value, previous } = change;
  if (!seal) return change;
  return {
    ...change,
    ...(value && { value: seal.decrypt(key, value) }),
    ...(previous && { previous: decryptedValue(seal, previous) }),
  };
}
