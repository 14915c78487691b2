/** The coordinator's time as this host has heard it since it booted: windows go by it, never by the host's own clock. */
import type { Logger } from '../../shared/process/output/logger.js';
import type { DurableFile } from '../desired/durable-file.js';

/** Marks a boot, and how long it has lasted. */
export interface BootClock {
  bootMark: string;
  /** Time since the boot, suspended or not, ms. */
  uptimeMs(): number;
}

/** Closer than this, what is on disk is right enough. */
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

  /** Knows what an earlier agent of the same boot heard. Without a file it ends with the process, for hosts that pretend. */
  static async open(boot: BootClock, file: DurableFile | undefined, log: Logger): Promise<CoordinatorTime> {
    const heard = new CoordinatorTime(boot, file, log);
    const kept = decode(await file?.read());
    if (kept?.bootMark === boot.bootMark) heard.#bootedAt = kept.bootedAt;
    return heard;
  }

  /** Without a file: hosts that pretend. */
  static inMemory(boot: BootClock, log: Logger): CoordinatorTime {
    return new CoordinatorTime(boot, undefined, log);
  }

  /** The coordinator says what time it is, ms since the epoch; known at once, kept when it resolves. */
  async update(hubTimeMs: number): Promise<void> {
    const bootedAt = Math.round(hubTimeMs - this.#boot.uptimeMs());
    const isNews = this.#bootedAt === undefined || Math.abs(bootedAt - this.#bootedAt) > TOLERANCE_MS;
    this.#bootedAt = bootedAt;
    if (!isNews) return;
    const heard: StoredTime = { bootMark: this.#boot.bootMark, bootedAt };
    await this.#file?.write(JSON.stringify(heard)).catch((error: unknown) => {
      this.#log.warn(
        { err: error },
        "the coordinator's time is not kept: an agent that restarts has to hear it anew",
      );
    });
  }

  /** The coordinator's time now, ms since the epoch; undefined while none was heard since the boot. */
  now(): number | undefined {
    return this.#bootedAt === undefined ? undefined : this.#bootedAt + this.#boot.uptimeMs();
  }
}

function decode(text: string | undefined): StoredTime | undefined {
  try {
    const heard = JSON.parse(text ?? '') as Partial<StoredTime>;
    const { bootMark, bootedAt } = heard;
    return typeof bootMark === 'string' && typeof bootedAt === 'number' ? { bootMark, bootedAt } : undefined;
  } catch {
    // None yet, or damaged: the coordinator says it again.
    return undefined;
  }
}
