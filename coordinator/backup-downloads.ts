/** Backups that the API sends to a client. They leave no file on the coordinator. */
import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../shared/kube/objects/api-status.js';
import type { Logger } from '../shared/process/output/logger.js';
import type { Component } from '../shared/process/service/program-lifecycle.js';
import type { Clock } from '../shared/process/time/clock.js';
import type { BackupDownload, BackupSource } from './api/ports.js';
import { backupName, takeBackup } from './store/backup/take-backup.js';
import { StoreError } from './store/store-error.js';

/** Holds the backup while it is written and until it is open for the download. */
const DOWNLOADS_DIRECTORY = '.download';
/** An open download keeps the space of its deleted file. A second place, so that a slow client blocks no other one. */
const MAX_OPEN = 2;

interface BackupDownloadsDeps {
  dataDir: string;
  /** Where backups are written. The disk of `dataDir` can be too small for them. */
  directory: string;
  clock: Clock;
  log: Logger;
}

export class BackupDownloads implements BackupSource, Component {
  readonly name = 'backup downloads';
  readonly #deps: BackupDownloadsDeps;
  #isTaking = false;
  #open = 0;

  constructor(deps: BackupDownloadsDeps) {
    this.#deps = deps;
  }

  /** A coordinator that was killed during a backup left its files, which contain the fleet's keys. */
  async start(): Promise<void> {
    try {
      await rm(this.#folder, { recursive: true, force: true });
    } catch (error) {
      this.#deps.log.warn({ err: error, path: this.#folder }, 'an incomplete backup could not be deleted');
    }
  }

  get #folder(): string {
    return join(this.#deps.directory, DOWNLOADS_DIRECTORY);
  }

  async take(): Promise<BackupDownload> {
    // Each backup needs space for two copies of the database.
    if (this.#isTaking)
      throw new ApiError('Conflict', 'another backup is being taken: try again when it is complete');
    if (this.#open >= MAX_OPEN)
      throw new ApiError(
        'Conflict',
        'other backups are being sent to clients: try again when one is complete',
      );
    this.#isTaking = true;
    try {
      return await this.#take();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      throw new ApiError('ServiceUnavailable', `the backup failed: ${error.message}`);
    } finally {
      this.#isTaking = false;
    }
  }

  async #take(): Promise<BackupDownload> {
    const { dataDir, clock, log } = this.#deps;
    const folder = this.#folder;
    const takenAt = clock.now();
    const name = backupName('manual', takenAt);
    const path = join(folder, name);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { revision } = await takeBackup(dataDir, path, takenAt);
      const { size: sizeBytes } = await stat(path);
      const content = createReadStream(path);
      await opened(content);
      this.#open += 1;
      content.once('close', () => {
        this.#open -= 1;
      });
      log.info({ name, revision, sizeBytes }, 'backup taken for a client');
      return { name, sizeBytes, revision, content };
    } finally {
      // The open file stays readable. The kernel frees its space when the download ends, also after a crash.
      await rm(folder, { recursive: true, force: true });
    }
  }
}

function opened(stream: ReturnType<typeof createReadStream>): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once('open', () => resolve()).once('error', reject);
  });
}
