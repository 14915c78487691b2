/**
 * Positions of the copies, one small file for each container in the agent's data directory. They also record which log
 * files are this agent's: an other agent or a kubelet on the host may use the same directory of logs.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { countWrittenBytes } from '../../shared/process/files/private-file.js';
import type { ContainerIdentity } from '../runtime/runtime-driver.js';
import type { LogPlace } from './engine-log-file.js';

/**
 * The bytes of `source` before its offset are in the file `target` before its offset. A later write needs no new
 * position: what the target has beyond its offset is the conversion of what follows in the source.
 */
export interface LogPosition {
  identity: ContainerIdentity;
  /** Directory of logs. */
  directory: string;
  /** Absent until the engine's log was opened. */
  source?: LogPlace;
  target?: LogPlace;
}

const SUFFIX = '.json';

export class LogPositions {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = positionsFolder(dataDir);
  }

  /** Resolves with undefined without a position, or if a power cut has damaged it. */
  async read(id: string): Promise<LogPosition | undefined> {
    try {
      return JSON.parse(await readFile(this.#path(id), 'utf8')) as LogPosition;
    } catch (error) {
      if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT')
        return undefined;
      throw error;
    }
  }

  /** Replaces the position atomically. It is not synced: after a power cut no container continues to write. */
  async write(id: string, position: LogPosition): Promise<void> {
    const text = JSON.stringify(position);
    const path = this.#path(id);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    countWrittenBytes(text);
    await rename(`${path}.new`, path);
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(id), { force: true });
  }

  /** Returns the ids of the containers with a position. */
  async ids(): Promise<string[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException): string[] => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
  }

  /** Removes all positions. */
  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  #path(id: string): string {
    return join(this.#folder, `${id}${SUFFIX}`);
  }
}

function positionsFolder(dataDir: string): string {
  return join(dataDir, 'pod-logs');
}
