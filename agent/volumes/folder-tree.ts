/** Walks a folder that containers may change meanwhile. Never follows a link out of it. */
import { readlink, rmdir, unlink } from 'node:fs/promises';
import type { Entries, EntryName, FileDescriptor } from './file-descriptor.js';

/** Limit of folders open at a time. Each takes two descriptors, and a container can nest folders without limit. */
const MAX_OPEN = 128;

/** A folder was moved while its content was visited. Only possible below more than `MAX_OPEN` levels. */
export class FolderMovedError extends Error {}

interface TreeWalk {
  /** Called for each folder, including the root, before its entries are listed. */
  enter?(folder: FileDescriptor): Promise<void>;
  /** Called for each entry. A folder comes after its content, with its descriptor. Other entries come without one. */
  visit(parent: FileDescriptor, name: Buffer, folder?: FileDescriptor): Promise<void>;
  /** Skips entries without read permission instead of failing. */
  skipsUnreadable?: boolean;
  /** `visit` removes every entry. */
  isRemoval?: boolean;
}

interface Level {
  /** Its name in the level above. Empty for the root. */
  name: Buffer;
  folder: FileDescriptor;
  entries: Entries;
  /** Number of entries read. */
  count: number;
  isOpen: boolean;
}

/** Visits every entry below the root, which stays open. Skips entries that disappear meanwhile. */
export async function walkTree(root: FileDescriptor, walk: TreeWalk): Promise<void> {
  const levels = [await enterLevel(Buffer.alloc(0), root, walk)];
  try {
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const next = await level.entries.read();
      if (!next) {
        await leave(levels, walk);
        continue;
      }
      level.count += 1;
      const folder = next.isDirectory() ? await openFolder(level.folder, next.name, walk) : undefined;
      if (folder) await descend(levels, next.name, folder, walk);
      else await walk.visit(level.folder, next.name).catch(unlessGone);
    }
  } finally {
    for (const level of levels) {
      if (!level.isOpen) continue;
      await level.entries.close();
      if (level.folder !== root) await level.folder.close();
    }
  }
}

/** Removes an entry with its content. Throws for a mount point: the mounted files do not belong to this folder. */
export async function removeTree(parent: FileDescriptor, name: EntryName): Promise<void> {
  const top = await parent.child(name);
  if (!top) return;
  try {
    if (!top.isFolder) return await unlink(parent.entry(name));
    const mount = await parent.mountId();
    await walkTree(top, {
      isRemoval: true,
      enter: async (folder) => {
        if ((await folder.mountId()) === mount) return;
        throw new Error(`something is mounted at ${await readlink(folder.path)}; unmount it first`);
      },
      visit: (owner, entry, folder) => (folder ? rmdir(owner.entry(entry)) : unlink(owner.entry(entry))),
    });
    await rmdir(parent.entry(name)).catch(unlessGone);
  } finally {
    await top.close();
  }
}

async function enterLevel(name: Buffer, folder: FileDescriptor, walk: TreeWalk): Promise<Level> {
  await walk.enter?.(folder);
  const entries = await folder.entries().catch((error: NodeJS.ErrnoException) => {
    if (walk.skipsUnreadable && error.code === 'EACCES') return NO_ENTRIES;
    throw error;
  });
  return { name, folder, entries, count: 0, isOpen: true };
}

const NO_ENTRIES: Entries = { read: async () => null, close: async () => undefined };

/** Returns undefined when the entry is no longer a folder. */
async function openFolder(
  parent: FileDescriptor,
  name: Buffer,
  { skipsUnreadable }: TreeWalk,
): Promise<FileDescriptor | undefined> {
  try {
    const found = await parent.child(name);
    if (found?.isFolder) return found;
    await found?.close();
  } catch (error) {
    if (!skipsUnreadable || (error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
  }
  return undefined;
}

async function descend(levels: Level[], name: Buffer, folder: FileDescriptor, walk: TreeWalk): Promise<void> {
  try {
    levels.push(await enterLevel(name, folder, walk));
  } catch (error) {
    await folder.close();
    throw error;
  }
  const far = levels.length > MAX_OPEN ? levels.at(-MAX_OPEN) : undefined;
  if (!far?.isOpen) return;
  await far.entries.close();
  await far.folder.close();
  far.isOpen = false;
}

async function leave(levels: Level[], walk: TreeWalk): Promise<void> {
  const level = levels.pop();
  await level?.entries.close();
  const above = levels.at(-1);
  if (!level || !above) return;
  try {
    if (!above.isOpen) await reopen(above, level.folder, walk);
    await walk.visit(above.folder, level.name, level.folder).catch(unlessGone);
  } finally {
    await level.folder.close();
  }
}

/** Throws `FolderMovedError` when a container moved the lower folder: its parent is another folder now. */
async function reopen(level: Level, below: FileDescriptor, { isRemoval }: TreeWalk): Promise<void> {
  const found = await below.parent();
  if (!found.isSameFile(level.folder)) {
    await found.close();
    throw new FolderMovedError('a folder was moved while its content was visited');
  }
  level.folder = found;
  level.entries = await found.entries();
  level.isOpen = true;
  // The list starts again at the first entry. Entries from before are removed already, or are skipped.
  for (let left = isRemoval ? 0 : level.count; left > 0; left -= 1) await level.entries.read();
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
