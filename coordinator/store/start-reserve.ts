/**
 * Room in which a coordinator can start on a disk that others have filled: a file that is given up then. So what is stored can be read,
 * and hosts keep their links, while writes are refused.
 */
import { open, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock, Timer } from '../../shared/process/time/clock.js';

/** SQLite's shared memory, a first piece of its log, and the small files that a start may write anew. */
const NEEDED_BYTES = 2 ** 20;
const RESERVE_BYTES = 2 * NEEDED_BYTES;
/** Less than this is left to writes: a reserve that took the last of it would refuse them all. */
const SPARE_BYTES = 2 * RESERVE_BYTES;
/** Until the reserve is taken back, or tried to be. */
const REFILL_MS = 60_000;
/** How often room is looked for, and for how long: a service manager that starts us anew at once would soon give up. */
const POLL_INTERVAL_MS = 1_000;
const TIMEOUT_MS = 60_000;

interface StartReserveDeps {
  /** Need not be there yet. */
  dataDir: string;
  clock: Clock;
  log: Logger;
}

const reservePath = (dataDir: string): string => join(dataDir, 'reserve');
/** What is written to see whether there is room. */
const probePath = (dataDir: string): string => join(dataDir, 'space-probe');

/**
 * Resolves when there is room to start, given by the reserve or by those who filled the disk. Throws ExitError with one sentence when there
 * is none for a minute.
 */
export async function waitForStartSpace({ dataDir, clock, log }: StartReserveDeps): Promise<void> {
  // A start that was killed in its trial left it there, in the very room that is looked for. A directory that cannot be written is for others to judge.
  await rm(probePath(dataDir), { force: true }).catch(() => undefined);
  if (await hasSpace(dataDir)) return;
  await rm(reservePath(dataDir), { force: true });
  if (await hasSpace(dataDir)) {
    log.error({ dataDir }, 'the disk is full: the reserve is used, so that what is stored can be read');
    return;
  }
  log.error({ dataDir, neededBytes: NEEDED_BYTES }, 'the disk is full: waiting for room to start in');
  const deadline = clock.monotonic() + TIMEOUT_MS;
  while (!(await hasSpace(dataDir))) {
    if (clock.monotonic() > deadline) {
      const text = `The disk of ${dataDir} is full: the coordinator needs ${NEEDED_BYTES / 2 ** 20} MiB there to start.`;
      throw new ExitError(EXIT_CODES.environment, text);
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

/** Keeps the room while the coordinator runs. */
export class StartReserve {
  readonly name = 'start reserve';
  readonly #deps: StartReserveDeps;
  #timer: Timer | undefined;

  constructor(deps: StartReserveDeps) {
    this.#deps = deps;
  }

  /** Takes it, if it is not there; where there is no room it is tried again. */
  async start(): Promise<void> {
    const path = reservePath(this.#deps.dataDir);
    try {
      if ((await stat(path).catch(() => undefined))?.size === RESERVE_BYTES) return;
      if ((await freeBytes(this.#deps.dataDir)).forAll < SPARE_BYTES) {
        this.#startLater();
        return;
      }
      // Written, not only made long: a hole takes no room.
      await writeFile(path, Buffer.alloc(RESERVE_BYTES, 1), { mode: 0o600 });
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'no room for the reserve');
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
  // Blocks that are kept for root: whether they are for us, too, only a try tells (user namespaces, groups).
  return forAll + reserved >= NEEDED_BYTES && (await canWriteProbe(dataDir));
}

/** Free bytes that everybody gets, and beyond these what is kept for root. */
interface FreeBytes {
  forAll: number;
  reserved: number;
}

/** Without end where it cannot be told: some file systems say nothing of their size, and a directory that is not there is for others to judge. */
async function freeBytes(dataDir: string): Promise<FreeBytes> {
  const disk = await statfs(dataDir).catch(() => undefined);
  if (disk === undefined || disk.blocks === 0) return { forAll: Number.POSITIVE_INFINITY, reserved: 0 };
  const { bavail, bfree, bsize } = disk;
  return { forAll: bavail * bsize, reserved: (bfree - bavail) * bsize };
}

/** Writes as much as a start needs, and takes it away. */
async function canWriteProbe(dataDir: string): Promise<boolean> {
  const path = probePath(dataDir);
  try {
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(Buffer.alloc(NEEDED_BYTES, 1));
      // Some file systems find the room only when they write it out.
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
