/**
 * Room that the agent keeps for itself on a disk that others fill: a file that is given up when a write finds none. So a host whose disk
 * is full still takes in what would empty it.
 */
import { open, rm, stat } from 'node:fs/promises';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';
import type { DurableFile } from './durable-file.js';

/** Enough for what some two hundred Pods are given. */
const RESERVE_BYTES = 1024 * 1024;
/** Until it is taken back, or tried to be. */
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

  /** Takes the room, if nobody did yet; where there is none it is tried again. */
  async allocate(): Promise<void> {
    try {
      if ((await stat(this.#path).catch(() => undefined))?.size === RESERVE_BYTES) return;
      const file = await open(this.#path, 'w', 0o600);
      try {
        // Written, not only made long: a hole takes no room.
        await file.writeFile(Buffer.alloc(RESERVE_BYTES, 1));
      } finally {
        await file.close();
      }
    } catch (error) {
      this.#log.debug({ err: error }, 'no room for the reserve');
      await this.#give();
      this.#takeLater();
    }
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** The file, whose writes may use the reserve. */
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
      this.#log.error('the disk is full: the reserve of the agent is used');
      await write();
    }
  }

  /** True when there was some. */
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

/** True for what a full disk or a full quota says. */
function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
