/** Undoes a coordinator's first start in a directory if it fails or is interrupted. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { trackNewFiles } from '../../../shared/process/files/new-file-cleanup.js';
import { acquireDataLock, DATABASE_FILE } from '../../store/data-files.js';
import { StoreError } from '../../store/store-error.js';

export interface FirstStart {
  /** Keeps the data from now on. The address of the API has been printed, so users may have stored something. */
  keep(): void;
  /**
   * Removes what the start created, unless `keep` was called. Returns true if it removed anything. Call it after the
   * coordinator has stopped.
   */
  undo(): boolean;
}

/**
 * Call it before anything is created. Data of an earlier start or of another coordinator in the same directory is never
 * removed. A directory that contains one of the files in `markers` was used by an earlier start.
 */
export function trackFirstStart(dataDir: string, markers: readonly string[] = [DATABASE_FILE]): FirstStart {
  if (markers.some((name) => existsSync(join(dataDir, name))))
    return { keep: () => undefined, undo: () => false };
  const removeNew = trackNewFiles(dataDir);
  let isKept = false;
  return {
    keep: () => {
      isKept = true;
    },
    undo: () => {
      if (isKept || !existsSync(dataDir)) return false;
      try {
        const lock = acquireDataLock(dataDir);
        removeNew();
        lock.release();
        return true;
      } catch (error) {
        if (error instanceof StoreError) return false;
        throw error;
      }
    },
  };
}
