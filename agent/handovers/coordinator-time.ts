/** The coordinator's time as received since the host's boot. Rollout windows use it, never the host's own clock. */
import type { Logger } from '../../shared/process/output/logger.js';
import type { DurableFile } from '../desired/durable-file.js';

/** Identifies a boot, and counts its duration. */
export interface BootClock {
  bootMark: string;
  /** Time since the boot including suspension, ms. */
  uptimeMs(): number;
}

/** Smaller differences from the stored time are not written to disk. */
const TOLERANCE_MS = 1_000;

interface StoredTime {
  bootMark: string;
  /** The coordinator's time when the host booted, ms since the epoch. */
  bootedAt: number;
}

export class CoordinatorTime {
  readonly #boot: BootClock;
  readonly #file: DurableFile | undefined;
  readonly #log: Logger;
  #bootedAt: number | undefined;

  private constructor(boot: BootClock, file: DurableFile | undefined, log: Logger) {
    this.#boot = boot;
    this.#file = file;
    this.#log = log;
  }

  /**
   * Restores the time that an earlier agent of the same boot received. Without a file the time is lost with the
   * process.
   */
  static async open(boot: BootClock, file: DurableFile | undefined, log: Logger): Promise<CoordinatorTime> {
    const time = new CoordinatorTime(boot, file, log);
    const kept = decode(await file?.read());
    if (kept?.bootMark === boot.bootMark) time.#bootedAt = kept.bootedAt;
    return time;
  }

  /** For simulated hosts. */
  static inMemory(boot: BootClock, log: Logger): CoordinatorTime {
    return new CoordinatorTime(boot, undefined, log);
  }

  /** Sets the coordinator's current time, ms since the epoch. Resolves when it is stored. */
  async update(hubTimeMs: number): Promise<void> {
    const bootedAt = Math.round(hubTimeMs - this.#boot.uptimeMs());
    const isNews = this.#bootedAt === undefined || Math.abs(bootedAt - this.#bootedAt) > TOLERANCE_MS;
    this.#bootedAt = bootedAt;
    if (!isNews) return;
    const time: StoredTime = { bootMark: this.#boot.bootMark, bootedAt };
    await this.#file?.write(JSON.stringify(time)).catch((error: unknown) => {
      this.#log.warn(
        { err: error },
        "the coordinator's time could not be stored: a restarted agent has to receive it again",
      );
    });
  }

  /** Returns the coordinator's time, ms since the epoch; undefined if none was received since the boot. */
  now(): number | undefined {
    return this.#bootedAt === undefined ? undefined : this.#bootedAt + this.#boot.uptimeMs();
  }
}

function decode(text: string | undefined): StoredTime | undefined {
  try {
    const time = JSON.parse(text ?? '') as Partial<StoredTime>;
    const { bootMark, bootedAt } = time;
    return typeof bootMark === 'string' && typeof bootedAt === 'number' ? { bootMark, bootedAt } : undefined;
  } catch {
    // There is no file, or it is damaged: the coordinator sends its time again.
    return undefined;
  }
}
