/** HMAC over the objects that hosts receive. After a restore, hosts can return only signed objects. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DesiredObject, ObjectMac } from '../../../shared/link/messages/link-messages.js';
import { readIfPresent, writePrivateFile } from '../../../shared/process/files/private-file.js';
import {
  type EpochPosition,
  isAheadOfBackup,
  type KnownEpoch,
  receivedUpTo,
} from '../../decisions/restore/unknown-pod.js';

const KEY_BYTES = 32;
const KEY_FILE = 'object-mac.key';

/** Reads the key in `directory`, or creates it: 32 random bytes. Backups contain it. */
export async function loadObjectMacKey(directory: string): Promise<Buffer> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, KEY_FILE);
  const present = Buffer.from((await readIfPresent(path)) ?? '', 'base64');
  if (present.length === KEY_BYTES) return present;
  const key = randomBytes(KEY_BYTES);
  await writePrivateFile(path, `${key.toString('base64')}\n`);
  return key;
}

/** The current epoch of the store, and the epochs that it was restored from. */
interface EpochHistory {
  epoch: string;
  pastEpochs: readonly KnownEpoch[];
}

/** Signs and verifies objects in the current epoch of the store. */
export class ObjectSigner {
  readonly #key: Buffer;
  readonly #history: EpochHistory;

  constructor(key: Buffer, history: EpochHistory) {
    this.#key = key;
    this.#history = history;
  }

  /** True if this store was restored from a backup. */
  get isRestored(): boolean {
    return this.#history.pastEpochs.length > 0;
  }

  /** Returns the MAC of an object at `revision`, valid for this node only. */
  sign(node: string, { uid, object }: Omit<DesiredObject, 'digest'>, revision: number): ObjectMac {
    const { epoch } = this.#history;
    return { epoch, revision, tag: this.#mac(node, uid, object, { epoch, revision }) };
  }

  /** True if this node received exactly these bytes under this uid. */
  verify(node: string, { uid, object }: Omit<DesiredObject, 'digest'>, mac: ObjectMac): boolean {
    const [actual, expected] = [mac.tag, this.#mac(node, uid, object, mac)].map((tag) => Buffer.from(tag));
    return (
      actual?.length === expected?.length && timingSafeEqual(actual ?? Buffer.of(), expected ?? Buffer.of())
    );
  }

  /** Like `verify`, and the object was sent after the restored backup. */
  verifyAfterBackup(node: string, object: Omit<DesiredObject, 'digest'>, mac: ObjectMac): boolean {
    return this.verify(node, object, mac) && this.isAheadOfStore(mac);
  }

  /** True if a host or a MAC at this position is newer than the backup. */
  isAheadOfStore(position: EpochPosition): boolean {
    return isAheadOfBackup(this.#history.epoch, this.#history.pastEpochs, position);
  }

  /** Returns the revision up to which a host ahead of the backup has received everything. */
  receivedUpTo(position: EpochPosition): number {
    return receivedUpTo(this.#history.pastEpochs, position);
  }

  #mac(node: string, uid: string, object: Uint8Array, { epoch, revision }: Omit<ObjectMac, 'tag'>): string {
    const hmac = createHmac('sha256', this.#key);
    return hmac
      .update(`${JSON.stringify([node, epoch, revision, uid])}\n`)
      .update(object)
      .digest('base64url');
  }
}
