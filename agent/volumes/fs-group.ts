/** The group that owns a Pod's volumes (pkg/volume/volume_linux.go SetVolumeOwnership). */
import type { Stats } from 'node:fs';
import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodSecurityContext } from '../../shared/kube/pod.js';

/** What the group may do with files and folders; new files in these folders stay the group's. */
interface GroupBits {
  file: number;
  folder: number;
}

const READ_AND_WRITE: GroupBits = { file: 0o660, folder: 0o2770 };
/** Of volumes whose files are the agent's to write. */
export const READ_ONLY: GroupBits = { file: 0o440, folder: 0o2550 };

/**
 * Gives the volume at `path` to the Pod's `fsGroup`, with all that is in it; nothing without one. With the policy
 * `OnRootMismatch` a volume whose top is right already is left as it is. Links themselves change, not what they name.
 */
export async function applyFsGroup(
  path: string,
  security: PodSecurityContext | undefined,
  bits: GroupBits = READ_AND_WRITE,
): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = security ?? {};
  if (fsGroup === undefined) return;
  if (fsGroupChangePolicy === 'OnRootMismatch' && isRight(await lstat(path), fsGroup, bits)) return;
  await giveTo(path, fsGroup, bits);
}

function isRight(found: Stats, group: number, { folder }: GroupBits): boolean {
  return found.gid === group && (found.mode & folder) === folder;
}

/** The top goes last: it is what tells that all below is done. */
async function giveTo(path: string, group: number, bits: GroupBits): Promise<void> {
  const found = await lstat(path);
  if (found.isDirectory()) {
    for (const name of await readdir(path)) await giveTo(join(path, name), group, bits);
  }
  const isGiven = found.gid === group;
  if (!isGiven) await lchown(path, found.uid, group);
  if (found.isSymbolicLink()) return;
  const mode = found.mode & 0o7777;
  const wanted = mode | (found.isDirectory() ? bits.folder : bits.file);
  // A change of owner takes the set-group bit away, so this is the last word.
  if (!isGiven || mode !== wanted) await chmod(path, wanted);
}
