/** Reads a container's log file of the engine, in whole lines and across the engine's rotation. */
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { EngineLogFormat } from '../decisions/pod-logs/cri-lines.js';

/** Place in the log of an engine. Docker's rotation renames files, so a file is known by its inode. */
export interface LogPlace {
  inode: number;
  /** Bytes read, up to the end of a line. */
  offset: number;
}

interface LogRead {
  /** Whole lines, in the caller's buffer. Empty at the end of the log. */
  bytes: Buffer;
  /** Bytes of a line that is longer than the buffer. It is left out. */
  skipped: number;
}

/** What is after the end of a file. */
type AfterEnd =
  | { kind: 'end' }
  /** Reading continues. `isGap`: the engine has removed files that were not read. */
  | { kind: 'more'; isGap: boolean };

interface LogFile {
  path: string;
  inode: number;
  size: number;
}

/** More than Docker's `max-file` of the agent's containers. */
const MAX_ROTATED = 20;
const NEWLINE = 10;

export class EngineLogFile {
  readonly #path: string;
  readonly #format: EngineLogFormat;
  #handle: FileHandle;
  #inode: number;
  #offset: number;
  /** The engine has started a new file. What it wrote to this one before that is read first. */
  #isReplaced = false;

  private constructor(path: string, format: EngineLogFormat, opened: { handle: FileHandle } & LogPlace) {
    this.#path = path;
    this.#format = format;
    this.#handle = opened.handle;
    this.#inode = opened.inode;
    this.#offset = opened.offset;
  }

  /**
   * Opens the log at a place, or at its beginning. `isGap`: the place no longer exists, so lines were lost. Resolves
   * with undefined without a log.
   */
  static async open(
    path: string,
    format: EngineLogFormat,
    place?: LogPlace,
  ): Promise<{ log: EngineLogFile; isGap: boolean } | undefined> {
    const files = await filesOf(path);
    const known = place && files.find(({ inode, size }) => inode === place.inode && size >= place.offset);
    if (known) {
      const handle = await openAt(known);
      // The engine may have given the inode of a removed file to a new one.
      if (handle && (await isLineStart(handle, place.offset)))
        return { log: new EngineLogFile(path, format, { handle, ...place }), isGap: false };
      await handle?.close();
    }
    const oldest = files.at(-1);
    const handle = oldest && (await openAt(oldest));
    if (!handle) return undefined;
    const opened = { handle, inode: oldest.inode, offset: 0 };
    return { log: new EngineLogFile(path, format, opened), isGap: place !== undefined };
  }

  get place(): LogPlace {
    return { inode: this.#inode, offset: this.#offset };
  }

  /** Reads the next lines into the buffer. An unfinished line at the end of the file is left for a later call. */
  async read(buffer: Buffer): Promise<LogRead> {
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.#offset);
    const end = bytesRead === 0 ? 0 : buffer.lastIndexOf(NEWLINE, bytesRead - 1) + 1;
    const skipped = end === 0 && bytesRead === buffer.length ? bytesRead : 0;
    this.#offset += end + skipped;
    return { bytes: buffer.subarray(0, end), skipped };
  }

  /** Called at the end of a file. Continues with the file that followed it. */
  async afterEnd(): Promise<AfterEnd> {
    const current = await stat(this.#path).catch(unlessMissing);
    // The engine removed the log, or is between the two steps of a rotation.
    if (!current || current.ino === this.#inode) return { kind: 'end' };
    if (!this.#isReplaced) {
      this.#isReplaced = true;
      return { kind: 'more', isGap: false };
    }
    const files = await filesOf(this.#path);
    const index = files.findIndex(({ inode }) => inode === this.#inode);
    const next = index < 0 ? files.at(-1) : files[index - 1];
    const handle = next && (await openAt(next));
    if (!handle) return { kind: 'end' };
    await this.#handle.close();
    this.#handle = handle;
    this.#inode = next.inode;
    this.#offset = 0;
    this.#isReplaced = false;
    // Podman keeps no rotated file: its previous file was read to its end while it was open.
    return { kind: 'more', isGap: index < 0 && this.#format === 'json-file' };
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Returns the log with its rotated files, newest first. */
async function filesOf(path: string): Promise<LogFile[]> {
  const files: LogFile[] = [];
  for (let index = 0; index <= MAX_ROTATED; index += 1) {
    const name = index === 0 ? path : `${path}.${index}`;
    const found = await stat(name).catch(unlessMissing);
    // During a rotation the newest file is missing for a moment.
    if (!found && index > 0) break;
    if (found) files.push({ path: name, inode: found.ino, size: found.size });
  }
  return files;
}

/** Returns undefined if the engine has rotated or removed the file meanwhile. */
async function openAt({ path, inode }: LogFile): Promise<FileHandle | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(unlessMissing);
  if (!handle || (await handle.stat()).ino === inode) return handle;
  await handle.close();
  return undefined;
}

async function isLineStart(handle: FileHandle, offset: number): Promise<boolean> {
  if (offset === 0) return true;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, offset - 1);
  return bytesRead === 1 && buffer[0] === NEWLINE;
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
