/** Folders that tests have left to the runner to remove, because their removal takes long. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export class RemovedFolders {
  /** Tests move folders into this one. */
  readonly path = mkdtempSync(join(tmpdir(), 'everynode-removed-'));
  /** What could not be removed, and why. */
  readonly failures: string[] = [];
  #removal: Promise<void> = Promise.resolve();

  constructor(private readonly command = 'rm') {}

  /** Removes the folders that are there now. Resolves when these and earlier ones are removed or reported. */
  empty(): Promise<void> {
    this.#removal = this.#removal.then(() => this.#removeAll());
    return this.#removal;
  }

  /** Removes all folders. */
  async close(): Promise<void> {
    await this.empty();
    if (readdirSync(this.path).length === 0) rmdirSync(this.path);
  }

  async #removeAll(): Promise<void> {
    const folders = readdirSync(this.path).map((name) => join(this.path, name));
    for (const folder of folders) {
      const isReported = this.failures.some((failure) => failure.includes(folder));
      if (!isReported) await this.#remove(folder);
    }
  }

  async #remove(folder: string): Promise<void> {
    try {
      await promisify(execFile)(this.command, ['-rf', folder]);
    } catch (error) {
      const reason = error instanceof Error ? error.message.trim().split('\n').at(-1) : String(error);
      this.failures.push(`${folder} of a test was not removed: ${reason}`);
    }
  }
}
