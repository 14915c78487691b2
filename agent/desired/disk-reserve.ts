/**
 * Disk space that the agent reserves for itself on a disk that others fill. The file is deleted when a write fails, so
 * that a host with a full disk can still store the change that frees space.
 */
import { open, rm, stat } from 'node:fs/promises';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { DurableFile } from './durable-file.js';

/** Sufficient for about two hundred Pods. */
const RESERVE_BYTES = 1024 * 1024;
/** Delay before the reserve is allocated again. */
const REFILL_MS = 60_000;

export class DiskReserve {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  #timer: Timer | undefined;

  constructor(path: string, clock: Clock, log: Logger) {
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
  }

  /** Allocates the reserve unless it exists; retries later if the disk is full. */
  async allocate(): Promise<void> {
    try {
      if ((await stat(this.#path).catch(() => undefined))?.size === RESERVE_BYTES) return;
      const file = await open(this.#path, 'w', 0o600);
      try {
        // Written instead of truncated to size: a sparse file reserves nothing.
        await file.writeFile(Buffer.alloc(RESERVE_BYTES, 1));
      } finally {
        await file.close();
      }
    } catch (error) {
      this.#log.debug({ err: error }, 'no disk space for the reserve');
      await this.#give();
      this.#takeLater();
    }
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Returns the file with writes that may use the reserve. */
  withReserve(file: DurableFile): DurableFile {
    return { ...file, write: (text) => this.#withRoom(() => file.write(text)) };
  }

  async #withRoom(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      const hadReserve = await this.#give();
      this.#takeLater();
      if (!hadReserve) throw error;
      this.#log.error('the disk is full: using the space reserved for the agent');
      await write();
    }
  }

  /** Resolves with true if a reserve was freed. */
  #give(): Promise<boolean> {
    return rm(this.#path).then(
      () => true,
      () => false,
    );
  }

  #takeLater(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(REFILL_MS, () => void this.allocate());
  }
}

/** Returns true for the errors of a full disk or quota. */
function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
