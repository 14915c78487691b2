/**
 * Records whether the previous agent was stopped: a small file that is written at the start and removed at the stop.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import type { Logger } from '../../shared/process/output/logger.js';

/** `stopped`: orderly, or there was none. `crashed`: in this boot of the host. `hostDown`: the host went down. */
export type PreviousExit = 'stopped' | 'crashed' | 'hostDown';

/** Returns the previous agent's end from the marker that it left. */
export function previousExitOf(found: string | undefined, bootMark: string): PreviousExit {
  if (found === undefined) return 'stopped';
  return found.trim() === bootMark ? 'crashed' : 'hostDown';
}

export class RunMarker {
  readonly #path: string;
  readonly #log: Logger;

  constructor(dataDir: string, log: Logger) {
    this.#path = join(dataDir, 'running');
    this.#log = log;
  }

  /**
   * Resolves with the end of the last agent, and marks this one as running. A failing disk does not prevent the start.
   */
  async markStarted(bootMark: string): Promise<PreviousExit> {
    const end = previousExitOf(await readIfPresent(this.#path).catch(() => undefined), bootMark);
    try {
      await writePrivateFile(this.#path, `${bootMark}\n`);
    } catch (error) {
      this.#log.warn({ err: error }, 'start marker could not be written: a crash would look like a stop');
    }
    return end;
  }

  async markStopped(): Promise<void> {
    try {
      await rm(this.#path, { force: true });
    } catch (error) {
      this.#log.warn({ err: error }, 'start marker could not be removed: this stop will look like a crash');
    }
  }
}
