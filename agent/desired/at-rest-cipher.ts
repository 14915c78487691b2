/** Encrypts Secrets on the host's disk: AES-256-GCM with the host's own key. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export const HOST_KEY_BYTES = 32;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** An encrypted text is nonce, tag and ciphertext in one buffer. */
export class AtRestCipher {
  readonly #key: Buffer;

  /** `key`: HOST_KEY_BYTES random bytes. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** `label` is authenticated with the content: decryption with another label fails. */
  encrypt(content: Buffer, label: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(Buffer.from(label));
    const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Returns the content; undefined for another key or label, or changed bytes. */
  decrypt(sealed: Buffer, label: string): Buffer | undefined {
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    if (tag.length < TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(label)).setAuthTag(tag);
    try {
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    } catch {
      // The tag does not match. GCM cannot tell a wrong key from changed bytes.
      return undefined;
    }
  }
}
