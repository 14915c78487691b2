/** Receives a backup from a coordinator's API. */
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { syncDirectory } from '../../../shared/process/files/private-file.js';
import { BACKUP_REVISION_HEADER } from '../../api/fleet/backup-resource.js';
import type { ApiClient } from './api-client.js';

/**
 * Writes the backup to `path` with mode 0600, complete or not at all, and resolves with its revision. Throws ApiError if
 * the API refuses, and `ExitError` if the file cannot be written or the download ends early.
 */
export async function downloadBackup(api: ApiClient, path: string): Promise<number> {
  const temporary = `${path}.new`;
  const target = await orExitError(path, async () => {
    await rm(temporary, { force: true });
    // Opened before the request: a coordinator must not take a backup that cannot be stored here.
    return open(temporary, 'wx', 0o600);
  });
  try {
    const revision = await api.download(`/apis/${FLEET_GROUP}/v1/backups`, (response) =>
      orExitError(path, async () => {
        await writeFile(target, response);
        await target.sync();
        return Number(response.headers[BACKUP_REVISION_HEADER]);
      }),
    );
    await orExitError(path, async () => {
      await rename(temporary, path);
      await syncDirectory(dirname(path));
    });
    return revision;
  } finally {
    await target.close();
    await rm(temporary, { force: true });
  }
}

async function orExitError<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    // A connection that ends early has no name of a file system call.
    const why =
      syscall === undefined || code === 'ECONNRESET'
        ? `the coordinator did not send all of the backup (${message}): try again`
        : `${message}: choose another place with --to`;
    throw new ExitError(EXIT_CODES.environment, `${path} was not written: ${why}.`);
  }
}
