/** Opens a path below a folder one component at a time, so that no swapped link can lead out of the folder. */
import type { FileDescriptor } from './file-descriptor.js';

/** The kernel's own limit. */
const MAX_LINKS = 40;
/**
 * Components of a path, including those of its links: as many as in the kernel's longest path. Each keeps a folder
 * open, so without a limit the agent would run out of descriptors.
 */
const MAX_COMPONENTS = 2_048;

interface Within {
  /** `..` at the top is an error, or stays at the top as in the root of a file system. */
  aboveTop: 'refuse' | 'stay';
  /** Converts an absolute link's target to a path below the top. Returns undefined when it is outside. */
  belowTop(target: string): string | undefined;
  /** Creates a missing entry. Never called for the target of a link. Without it, a missing entry is an error. */
  make?(parent: FileDescriptor, name: string): Promise<void>;
}

/** For a path of the whole host: absolute links start at the root, as the engine follows them. */
export const WHOLE_HOST: Within = { aboveTop: 'stay', belowTop: (target) => target };

interface Component {
  name: string;
  isFromLink: boolean;
}

/** Throws an Error when the path leads out of `top`, or does not exist. The caller closes the result. */
export async function openBeneath(
  top: FileDescriptor,
  path: string,
  within: Within,
): Promise<FileDescriptor> {
  const opened: FileDescriptor[] = [];
  try {
    await openEach(top, path, within, opened);
    return opened.pop() ?? (await top.duplicate());
  } finally {
    for (const descriptor of opened) await descriptor.close();
  }
}

/** Leaves the open components, from below the top to the end of the path, in `opened`. */
async function openEach(
  top: FileDescriptor,
  path: string,
  within: Within,
  opened: FileDescriptor[],
): Promise<void> {
  const pending = componentsOf(path, false);
  let links = 0;
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (next.name === '..') {
      if (opened.length === 0 && within.aboveTop === 'refuse') throw outside(path);
      await opened.pop()?.close();
      continue;
    }
    if (opened.length + pending.length >= MAX_COMPONENTS)
      throw Object.assign(new Error('file name too long'), { code: 'ENAMETOOLONG' });
    const here = opened.at(-1) ?? top;
    const found = await findOrMake(here, next, within);
    if (!found.stats.isSymbolicLink()) {
      opened.push(found);
      continue;
    }
    await found.close();
    links += 1;
    if (links > MAX_LINKS) throw new Error(`${JSON.stringify(path)}: too many levels of symbolic links`);
    const target = await here.linkTarget(next.name);
    if (target.startsWith('/')) for (const left of opened.splice(0)) await left.close();
    const rest = target.startsWith('/') ? within.belowTop(target) : target;
    if (rest === undefined) throw outside(path);
    pending.push(...componentsOf(rest, true));
  }
}

async function findOrMake(here: FileDescriptor, next: Component, { make }: Within): Promise<FileDescriptor> {
  const found = await here.child(next.name);
  if (found) return found;
  if (make && !next.isFromLink) await make(here, next.name);
  const made = await here.child(next.name);
  if (made?.stats.isSymbolicLink()) {
    await made.close();
    throw new Error(`${JSON.stringify(next.name)} was replaced by a link while it was created`);
  }
  if (!made)
    throw Object.assign(new Error(`${JSON.stringify(next.name)} does not exist`), { code: 'ENOENT' });
  return made;
}

/** Returns the last component first. */
function componentsOf(path: string, isFromLink: boolean): Component[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  return names.reverse().map((name) => ({ name, isFromLink }));
}

function outside(path: string): Error {
  return new Error(`${JSON.stringify(path)} leads out of the volume`);
}
