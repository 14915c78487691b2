/**
 * Releases that clients send through the API. A release is sent in pieces, so that no request is large or long: first
 * the signed list, then each file, then the end of the upload. Until the end nothing is changed that hosts can see.
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../../shared/process/time/clock.js';
import { isServedFile } from '../join/agent-downloads.js';
import { acceptList, type ReleaseList } from './accepted-list.js';
import { commitStaging, LEFTOVER_AFTER_MS, openStaging, removeLeftovers } from './release-staging.js';
import {
  changedTrust,
  fingerprint,
  type ReleasePaths,
  type ReleaseTrust,
  readTrust,
  releaseKey,
  type TrustChange,
  type TrustUpdate,
  updateTrust,
} from './release-trust.js';
import { ReleaseError, StagingLostError } from './signed-sums.js';
import { requireSpace, UploadedFile } from './uploaded-file.js';

/** An upload without a piece for this time has ended: its client was killed or lost the connection. */
const IDLE_MS = 5 * 60_000;

interface Upload {
  id: string;
  user: string;
  list: ReleaseList;
  version: string;
  staging: string;
  sizes: ReadonlyMap<string, number>;
  files: ReadonlyMap<string, UploadedFile>;
  idle: Timer;
}

/** The files of an upload that the coordinator needs: those that hosts download. */
interface StartedUpload {
  upload: string;
  version: string;
  files: string[];
}

interface StoredRelease {
  version: string;
  /** Fingerprint of the key that signed it. */
  key: string;
  /** True for the first release, whose key becomes the trusted key. */
  isFirstKey: boolean;
  /** The trust before and after. */
  trust: TrustUpdate;
}

export class ReleaseUploads {
  readonly name = 'release uploads';
  readonly #places: ReleasePaths;
  readonly #clock: Clock;
  readonly #log: Logger;
  #upload: Upload | undefined;
  #cleanup: Timer | undefined;
  /** The end of the latest call. Calls never overlap: each reads and changes the trust or the one upload. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(places: ReleasePaths, { clock, log }: { clock: Clock; log: Logger }) {
    this.#places = places;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * A coordinator that was killed during an upload left its files. They cannot be told from those of a command that is
   * copying a release now, so the latest ones are deleted later.
   */
  async start(): Promise<void> {
    this.#cleanup = this.#clock.after(LEFTOVER_AFTER_MS + IDLE_MS, () => void this.#removeLeftovers());
    await this.#removeLeftovers();
  }

  async #removeLeftovers(): Promise<void> {
    try {
      await removeLeftovers(this.#places.directory, this.#clock.now());
    } catch (error) {
      this.#log.warn({ err: error }, 'files of an incomplete release could not be deleted');
    }
  }

  async stop(): Promise<void> {
    this.#cleanup?.cancel();
    await this.#inTurn(() => this.#discard());
  }

  /**
   * Begins an upload if the list is signed by the trusted key and its version is allowed. `sizes` has the bytes of each
   * file. Another upload of the same user is discarded, because its client may have been killed. Throws ApiError: 400,
   * 409 during an upload of another user, 503 if the disk is too small.
   */
  begin(user: string, list: ReleaseList, sizes: ReadonlyMap<string, number>): Promise<StartedUpload> {
    return this.#inTurn(async () => {
      const { signed } = acceptList(list, await readTrust(this.#places.trustFile));
      if (this.#upload && this.#upload.user !== user) {
        throw new ApiError(
          'Conflict',
          `${this.#upload.user} is adding release ${this.#upload.version}: try again when it is complete`,
        );
      }
      await this.#discard();
      const sums = [...signed.sums].filter(([name]) => isServedFile(name));
      await requireSpace(this.#places.directory, sums, sizes);
      const staging = await openStaging(this.#places.directory, this.#clock.now());
      const file = ([name, sum]: [string, string]): [string, UploadedFile] => [
        name,
        new UploadedFile(staging, { name, sum, size: sizes.get(name) ?? 0 }),
      ];
      const id = randomBytes(16).toString('hex');
      const { version } = signed;
      const files = new Map(sums.map(file));
      const stored = new Map(sums.map(([name]) => [name, sizes.get(name) ?? 0]));
      this.#upload = { id, user, list, version, staging, sizes: stored, files, idle: this.#expireLater(id) };
      return { upload: id, version, files: [...files.keys()] };
    });
  }

  /** Stores the next bytes of a file. Throws ApiError: 400, 404 if the upload has ended, 409, 503. */
  receive(upload: Pick<Upload, 'id' | 'user'>, piece: { file: string; at: number; bytes: Buffer }) {
    return this.#inTurn(async () => {
      const found = this.#find(upload);
      const file = found.files.get(piece.file);
      if (!file) throw new ReleaseError(`the coordinator needs no file ${piece.file} of it`);
      found.idle.cancel();
      found.idle = this.#expireLater(found.id);
      await file.append(piece.at, piece.bytes);
    });
  }

  /**
   * Makes the release visible to hosts. The trust may have changed since the upload began, so the list is verified again.
   * Throws ApiError: 400 if a file is incomplete, 404 if the upload has ended, 503.
   */
  finish(upload: Pick<Upload, 'id' | 'user'>): Promise<StoredRelease> {
    return this.#inTurn(async () => {
      const { files, ...staged } = this.#find(upload);
      for (const file of files.values()) file.requireComplete();
      // After a failure the staging folder can have a part of the list, so the release must be sent again.
      const commit = await commitStaging(staged, this.#places).finally(() => this.#discard());
      const { version } = staged;
      const key = fingerprint(releaseKey(commit.key));
      const { before, after, cleanupError } = commit;
      this.#log.info({ version, key }, 'release added');
      if (cleanupError !== undefined) {
        this.#log.warn({ version, err: cleanupError }, 'files of the replaced release could not be deleted');
      }
      return { version, key, isFirstKey: before.key === undefined, trust: { before, after } };
    });
  }

  trust(): Promise<ReleaseTrust> {
    return this.#inTurn(() => readTrust(this.#places.trustFile));
  }

  /** Returns the trust before and after the change. Throws ApiError: 400, 503. */
  changeTrust(change: TrustChange): Promise<TrustUpdate> {
    return this.#inTurn(() => updateTrust(this.#places.trustFile, (trust) => changedTrust(trust, change)));
  }

  /** The id alone is not enough: a user must not end or continue the upload of another one. */
  #find({ id, user }: Pick<Upload, 'id' | 'user'>): Upload {
    if (this.#upload?.id === id && this.#upload.user === user) return this.#upload;
    throw new ApiError('NotFound', 'the upload has ended: add the release again. Nothing was changed');
  }

  #expireLater(id: string): Timer {
    return this.#clock.after(IDLE_MS, () => {
      void this.#inTurn(async () => {
        if (this.#upload?.id === id) await this.#discard();
      }).catch((error) => this.#log.warn({ err: error }, 'an incomplete release could not be deleted'));
    });
  }

  async #discard(): Promise<void> {
    const { staging, idle } = this.#upload ?? {};
    this.#upload = undefined;
    idle?.cancel();
    if (staging !== undefined) await rm(staging, { recursive: true, force: true });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work).catch(throwApiError);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function throwApiError(error: unknown): never {
  if (error instanceof StagingLostError) throw new ApiError('ServiceUnavailable', error.message);
  if (error instanceof ReleaseError) throw new ApiError('BadRequest', error.message);
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall === undefined) throw error;
  const why = code === 'ENOSPC' ? 'its disk is full' : message;
  throw new ApiError('ServiceUnavailable', `the coordinator cannot store the release: ${why}`);
}
