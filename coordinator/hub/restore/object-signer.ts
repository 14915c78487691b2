/** Seals: a MAC over what a host was given. After a restore a host can give back only that, and only to its own fleet. */
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

/** Reads the key in `directory`, or makes it: 32 random bytes. It is part of every backup. */
export async function loadObjectMacKey(directory: string): Promise<Buffer> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, KEY_FILE);
  const present = Buffer.from((await readIfPresent(path)) ?? '', 'base64');
  if (present.length === KEY_BYTES) return present;
  const key = randomBytes(KEY_BYTES);
  await writePrivateFile(path, `${key.toString('base64')}\n`);
  return key;
}

/** Which log the store holds now, and which it comes from. */
interface EpochHistory {
  epoch: string;
  pastEpochs: readonly KnownEpoch[];
}

/** Makes and checks seals in the store's present epoch. */
export class ObjectSigner {
  readonly #key: Buffer;
  readonly #history: EpochHistory;

  constructor(key: Buffer, history: EpochHistory) {
    this.#key = key;
    this.#history = history;
  }

  /** True when this store comes from a backup. */
  get isRestored(): boolean {
    return this.#history.pastEpochs.length > 0;
  }

  /** The seal of an object as it was at `revision`, for this node alone. */
  sign(node: string, { uid, object }: Omit<DesiredObject, 'digest'>, revision: number): ObjectMac {
    const { epoch } = this.#history;
    return { epoch, revision, tag: this.#mac(node, uid, object, { epoch, revision }) };
  }

  /** True when this node was given exactly these bytes under this uid. */
  verify(node: string, { uid, object }: Omit<DesiredObject, 'digest'>, seal: ObjectMac): boolean {
    const [given, right] = [seal.tag, this.#mac(node, uid, object, seal)].map((mac) => Buffer.from(mac));
    return given?.length === right?.length && timingSafeEqual(given ?? Buffer.of(), right ?? Buffer.of());
  }

  /** As `isGiven`, after the backup that was restored. */
  verifyAfterBackup(node: string, object: Omit<DesiredObject, 'digest'>, seal: ObjectMac): boolean {
    return this.verify(node, object, seal) && this.isAheadOfStore(seal);
  }

  /** True when a host or a seal of this position knows more than the store. */
  isAheadOfStore(position: EpochPosition): boolean {
    return isAheadOfBackup(this.#history.epoch, this.#history.pastEpochs, position);
  }

  /** Up to which revision a host of this position, which is beyond the backup, has heard everything. */
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
