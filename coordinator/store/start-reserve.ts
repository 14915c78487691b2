/**
 * Reserves disk space for the start of the coordinator. If other programs fill the disk, the reserve is deleted at
 * start. The coordinator can then serve reads and keep links open, while it refuses writes.
 */
import { open, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';

/** Space for SQLite's shared memory, the beginning of its log, and small files that a start may write. */
const NEEDED_BYTES = 2 ** 20;
const RESERVE_BYTES = 2 * NEEDED_BYTES;
/** Space that must remain for writes: a reserve on the last free bytes would block them all. */
const SPARE_BYTES = 2 * RESERVE_BYTES;
/** Interval of attempts to write the reserve. */
const REFILL_MS = 60_000;
/** Interval and timeout of the wait for space. After immediate exits, the service manager would stop restarting. */
const POLL_INTERVAL_MS = 1_000;
const TIMEOUT_MS = 60_000;

interface StartReserveDeps {
  /** May not exist yet. */
  dataDir: string;
  clock: Clock;
  log: Logger;
}

const reservePath = (dataDir: string): string => join(dataDir, 'reserve');
/** Written to test whether there is space. */
const probePath = (dataDir: string): string => join(dataDir, 'space-probe');

/**
 * Resolves when there is space to start, from the reserve or freed by other programs. Throws ExitError after a minute.
 */
export async function waitForStartSpace({ dataDir, clock, log }: StartReserveDeps): Promise<void> {
  // A killed start may have left its probe file. An unwritable directory is reported later.
  await rm(probePath(dataDir), { force: true }).catch(() => undefined);
  if (await hasSpace(dataDir)) return;
  await rm(reservePath(dataDir), { force: true });
  if (await hasSpace(dataDir)) {
    log.error({ dataDir }, 'the disk is full: the reserve was deleted, so that stored data can be read');
    return;
  }
  log.error({ dataDir, neededBytes: NEEDED_BYTES }, 'the disk is full: waiting for free space to start');
  const deadline = clock.monotonic() + TIMEOUT_MS;
  while (!(await hasSpace(dataDir))) {
    if (clock.monotonic() > deadline) {
      const text = `The disk of ${dataDir} is full: the coordinator needs ${NEEDED_BYTES / 2 ** 20} MiB of free space to start.`;
      throw new ExitError(EXIT_CODES.environment, text);
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

/** Writes the reserve while the coordinator runs. */
export class StartReserve {
  readonly name = 'start reserve';
  readonly #deps: StartReserveDeps;
  #timer: Timer | undefined;

  constructor(deps: StartReserveDeps) {
    this.#deps = deps;
  }

  /** Writes the reserve if it is missing, and tries again later without space. */
  async start(): Promise<void> {
    const path = reservePath(this.#deps.dataDir);
    try {
      if ((await stat(path).catch(() => undefined))?.size === RESERVE_BYTES) return;
      if ((await freeBytes(this.#deps.dataDir)).forAll < SPARE_BYTES) {
        this.#startLater();
        return;
      }
      // Write real bytes: a sparse file reserves no space.
      await writeFile(path, Buffer.alloc(RESERVE_BYTES, 1), { mode: 0o600 });
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'not enough space for the start reserve');
      await rm(path, { force: true }).catch(() => undefined);
      this.#startLater();
    }
  }

  #startLater(): void {
    this.#timer = this.#deps.clock.after(REFILL_MS, () => void this.start());
  }

  stop(): void {
    this.#timer?.cancel();
  }
}

async function hasSpace(dataDir: string): Promise<boolean> {
  const { forAll, reserved } = await freeBytes(dataDir);
  if (forAll >= NEEDED_BYTES) return true;
  // Some free blocks are reserved for root. Only a test write shows whether this process may use them.
  return forAll + reserved >= NEEDED_BYTES && (await canWriteProbe(dataDir));
}

/** Free bytes for all users, and additional ones reserved for root. */
interface FreeBytes {
  forAll: number;
  reserved: number;
}

/** Returns infinity if unknown: some file systems report no size, and a missing directory is reported later. */
async function freeBytes(dataDir: string): Promise<FreeBytes> {
  const disk = await statfs(dataDir).catch(() => undefined);
  if (disk === undefined || disk.blocks === 0) return { forAll: Number.POSITIVE_INFINITY, reserved: 0 };
  const { bavail, bfree, bsize } = disk;
  return { forAll: bavail * bsize, reserved: (bfree - bavail) * bsize };
}

/** Writes and deletes as much as a start needs. */
async function canWriteProbe(dataDir: string): Promise<boolean> {
  const path = probePath(dataDir);
  try {
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(Buffer.alloc(NEEDED_BYTES, 1));
      // Some file systems allocate blocks only when data is written out.
      await file.sync();
    } finally {
      await file.close();
    }
    return true;
  } catch {
    return false;
  } finally {
    await rm(path, { force: true });
  }
}
