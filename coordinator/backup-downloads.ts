/** Backups that the API sends to a client. They leave no file in the data directory. */
import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../shared/kube/objects/api-status.js';
import type { Logger } from '../shared/process/output/logger.js';
import type { Clock } from '../shared/process/time/clock.js';
import type { BackupDownload, BackupSource } from './api/ports.js';
import { BACKUPS_DIRECTORY, backupName, takeBackup } from './store/backup/take-backup.js';
import { StoreError } from './store/store-error.js';

/** Holds the backup while it is written and until it is open for the download. */
const DOWNLOADS_DIRECTORY = '.download';

interface BackupDownloadsDeps {
  dataDir: string;
  clock: Clock;
  log: Logger;
}

export class BackupDownloads implements BackupSource {
  readonly #deps: BackupDownloadsDeps;
  #isTaking = false;

  constructor(deps: BackupDownloadsDeps) {
    this.#deps = deps;
  }

  async take(): Promise<BackupDownload> {
    // Each backup needs space for two copies of the database.
    if (this.#isTaking)
      throw new ApiError('Conflict', 'another backup is being taken: try again when it is complete');
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
    const folder = join(dataDir, BACKUPS_DIRECTORY, DOWNLOADS_DIRECTORY);
    const takenAt = clock.now();
    const name = backupName('manual', takenAt);
    const path = join(folder, name);
    // A coordinator that was killed during a backup left its files.
    await rm(folder, { recursive: true, force: true });
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { revision } = await takeBackup(dataDir, path, takenAt);
      const { size: sizeBytes } = await stat(path);
      const content = createReadStream(path);
      await opened(content);
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
