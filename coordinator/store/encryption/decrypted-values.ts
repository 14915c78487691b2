/** What lies sealed on the disk, in plain again. */

import type { Change } from '../store.js';
import { refuseEncrypted } from './reencrypt-values.js';
import type { ValueEncryption } from './value-encryption.js';

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
