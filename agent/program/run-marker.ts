/** Whether the agent before this one was stopped or came to its end otherwise: one small file, written at a start and removed at a stop. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfPresent, writePrivateFile } from '../../shared/process/files/private-file.js';
import type { Logger } from '../../shared/process/output/logger.js';

/** `stopped`: orderly, or there was none. `crashed`: in this boot of the host. `hostDown`: the host went down under it. */
export type PreviousExit = 'stopped' | 'crashed' | 'hostDown';

/** What the marker that was found says of the end of the agent that wrote it. */
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

  /** Tells how the last agent ended, and marks that this one runs. A disk that takes no mark keeps nobody from running. */
  async markStarted(bootMark: string): Promise<PreviousExit> {
    const end = previousExitOf(await readIfPresent(this.#path).catch(() => undefined), bootMark);
    try {
      await writePrivateFile(this.#path, `${bootMark}\n`);
    } catch (error) {
      this.#log.warn({ err: error }, 'the start is not marked: a crash will not be told from a stop');
    }
    return end;
  }

  /** This one was stopped. */
  async markStopped(): Promise<void> {
    try {
      await rm(this.#path, { force: true });
    } catch (error) {
      this.#log.warn({ err: error }, 'the stop is not marked: it will look like a crash');
    }
  }
}
