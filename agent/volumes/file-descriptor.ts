/**
 * Files and folders that stay open. A container can replace any name in its volume by a symbolic link between two calls
 * of the agent, which runs as root. A call through a descriptor reaches the opened file, even if its name now leads
 * elsewhere. Node has no `openat` and no `mkdirat`: `/proc/self/fd/N/NAME` is equivalent.
 */
import { constants, type Dirent, type Stats } from 'node:fs';
import { chmod, chown, type FileHandle, mkdir, open, opendir, readFile, readlink } from 'node:fs/promises';

/** Linux's flag, which Node lacks: opens the file itself, without access to its content. Never blocks on a FIFO. */
const O_PATH = 0o10000000;

/** A file name. Containers may create names that are not valid UTF-8. */
export type EntryName = string | Buffer;

/** Entries of a folder. `read` resolves with null after the last. */
export interface Entries {
  read(): Promise<Dirent<Buffer> | null>;
  close(): Promise<void>;
}

const ENTRIES_READ_AHEAD = 256;

export class FileDescriptor {
  readonly #handle: FileHandle;

  private constructor(
    handle: FileHandle,
    /** Stats at the time of opening. The type of a file never changes. */
    readonly stats: Stats,
  ) {
    this.#handle = handle;
  }

  /** Opens a path and follows its links: only for paths that no container can write to. */
  static open(path: string): Promise<FileDescriptor> {
    return FileDescriptor.#of(path, O_PATH);
  }

  static async #of(path: string | Buffer, flags: number): Promise<FileDescriptor> {
    const handle = await open(path, flags);
    try {
      return new FileDescriptor(handle, await handle.stat());
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get fd(): number {
    return this.#handle.fd;
  }

  /** A path that leads to this file, valid in this process only. */
  get path(): string {
    return `/proc/self/fd/${this.fd}`;
  }

  get isFolder(): boolean {
    return this.stats.isDirectory();
  }

  isSameFile({ stats }: FileDescriptor): boolean {
    return this.stats.dev === stats.dev && this.stats.ino === stats.ino;
  }

  /** Returns the path of an entry of this folder, for calls that do not follow a link at its end. */
  entry(name: EntryName): Buffer {
    const bytes = Buffer.from(name as string);
    const text = bytes.toString('latin1');
    if (text === '' || text === '.' || text === '..' || text.includes('/')) {
      throw new Error(`${JSON.stringify(text)} is not the name of a file`);
    }
    return Buffer.concat([Buffer.from(`${this.path}/`), bytes]);
  }

  /** Opens an entry of this folder. A symbolic link is not followed. Returns undefined when there is no such entry. */
  async child(name: EntryName): Promise<FileDescriptor | undefined> {
    try {
      return await FileDescriptor.#of(this.entry(name), O_PATH | constants.O_NOFOLLOW);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Opens the current parent folder. */
  parent(): Promise<FileDescriptor> {
    return FileDescriptor.#of(`${this.path}/..`, O_PATH);
  }

  /** Opens the same file again, to be closed separately. */
  duplicate(): Promise<FileDescriptor> {
    return FileDescriptor.#of(this.path, O_PATH);
  }

  /**
   * Opens the list of entries, for the caller to close. Reads them one by one: a container can create millions, too
   * many for the agent's memory.
   */
  async entries(): Promise<Entries> {
    const options = { encoding: 'buffer' as BufferEncoding, bufferSize: ENTRIES_READ_AHEAD };
    // Node's type declarations only know names as text.
    return (await opendir(this.path, options)) as unknown as Entries;
  }

  private async isEmpty(): Promise<boolean> {
    const entries = await this.entries();
    try {
      return (await entries.read()) === null;
    } finally {
      await entries.close();
    }
  }

  /** Returns the target of a symbolic link. */
  linkTarget(name: EntryName): Promise<string> {
    return readlink(this.entry(name), { encoding: 'utf8' });
  }

  /** Creates a folder with exactly this mode, whatever the umask. Does not change an existing entry. */
  async makeFolder(name: EntryName, mode: number): Promise<void> {
    try {
      await mkdir(this.entry(name), 0o700);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
      throw error;
    }
    const made = await this.child(name);
    try {
      // A container may have moved another folder here. A folder with content keeps its mode.
      if (made?.isFolder && (await made.isEmpty())) await made.setMode(mode);
    } finally {
      await made?.close();
    }
  }

  /** Not for symbolic links, which have no mode. */
  setMode(mode: number): Promise<void> {
    return chmod(this.path, mode);
  }

  setGroup(group: number): Promise<void> {
    return chown(this.path, this.stats.uid, group);
  }

  /** Returns the id of the mount of this descriptor. Two mounts of one disk have the same `stats.dev`. */
  async mountId(): Promise<string> {
    const info = await readFile(`/proc/self/fdinfo/${this.fd}`, 'utf8');
    return /^mnt_id:\s*(\d+)$/m.exec(info)?.[1] ?? '';
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
