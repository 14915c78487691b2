/** Everything below a folder that containers may be changing meanwhile: no step follows a link out of it. */
import { readlink, rmdir, unlink } from 'node:fs/promises';
import type { Descriptor, EntryName } from './descriptor.js';

/** Folders held open at a time, however deep a container has nested them. */
const MAX_OPEN = 256;

/** A folder went elsewhere while its content was visited; only below more than `MAX_OPEN` levels. */
export class FolderMoved extends Error {}

interface TreeWalk {
  /** Called before the entries of a folder are listed, the root's among them. */
  enter?(folder: Descriptor): Promise<void>;
  /** Called for each entry: a folder after all that is in it and with its descriptor, anything else without one. */
  visit(parent: Descriptor, name: Buffer, folder?: Descriptor): Promise<void>;
  /** Leaves out what this process may not read, instead of failing. */
  skipsUnreadable?: boolean;
}

interface Level {
  /** Its name in the level above; empty for the root. */
  name: Buffer;
  folder: Descriptor;
  isOpen: boolean;
  left: { name: Buffer; isFolder: boolean }[];
}

/** Visits every entry below the root, which stays open. Entries that disappear meanwhile are left out. */
export async function walkTree(root: Descriptor, walk: TreeWalk): Promise<void> {
  const levels = [await enterLevel(Buffer.alloc(0), root, walk)];
  try {
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const next = level.left.pop();
      if (!next) {
        await leave(levels, walk);
        continue;
      }
      const folder = next.isFolder ? await openFolder(level.folder, next.name, walk) : undefined;
      if (folder) await descend(levels, next.name, folder, walk);
      else await walk.visit(level.folder, next.name).catch(unlessGone);
    }
  } finally {
    for (const { folder, isOpen } of levels.slice(1)) if (isOpen) await folder.close();
  }
}

/** Removes an entry with all that is below it. Throws for a mount point: what is mounted there is not this folder's. */
export async function removeTree(parent: Descriptor, name: EntryName): Promise<void> {
  const top = await parent.child(name);
  if (!top) return;
  try {
    if (!top.isFolder) return await unlink(parent.entry(name));
    const mount = await parent.mountId();
    await walkTree(top, {
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

async function enterLevel(name: Buffer, folder: Descriptor, walk: TreeWalk): Promise<Level> {
  await walk.enter?.(folder);
  const entries = await folder.entries().catch((error: NodeJS.ErrnoException) => {
    if (walk.skipsUnreadable && error.code === 'EACCES') return [];
    throw error;
  });
  const left = entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  return { name, folder, isOpen: true, left };
}

/** Undefined when the entry is not a folder now. */
async function openFolder(
  parent: Descriptor,
  name: Buffer,
  { skipsUnreadable }: TreeWalk,
): Promise<Descriptor | undefined> {
  try {
    const found = await parent.child(name);
    if (found?.isFolder) return found;
    await found?.close();
  } catch (error) {
    if (!skipsUnreadable || (error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
  }
  return undefined;
}

async function descend(levels: Level[], name: Buffer, folder: Descriptor, walk: TreeWalk): Promise<void> {
  try {
    levels.push(await enterLevel(name, folder, walk));
  } catch (error) {
    await folder.close();
    throw error;
  }
  const far = levels.length > MAX_OPEN ? levels.at(-MAX_OPEN) : undefined;
  if (!far?.isOpen) return;
  await far.folder.close();
  far.isOpen = false;
}

async function leave(levels: Level[], walk: TreeWalk): Promise<void> {
  const level = levels.pop();
  const above = levels.at(-1);
  if (!level || !above) return;
  try {
    if (!above.isOpen) await reopen(above, level.folder);
    await walk.visit(above.folder, level.name, level.folder).catch(unlessGone);
  } finally {
    await level.folder.close();
  }
}

/** Throws `FolderMoved` when a container moved the lower folder: its parent is another folder now. */
async function reopen(level: Level, below: Descriptor): Promise<void> {
  const found = await below.parent();
  if (!found.isSameFile(level.folder)) {
    await found.close();
    throw new FolderMoved('a folder was moved while its content was visited');
  }
  level.folder = found;
  level.isOpen = true;
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
