/** The group that owns a Pod's volumes (pkg/volume/volume_linux.go SetVolumeOwnership). */
import type { Stats } from 'node:fs';
import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PodSecurityContext } from '../../shared/kube/pod.js';

/** Reading and writing for the group, also to walk through folders, and new files in them stay the group's. */
const FILE_BITS = 0o660;
const FOLDER_BITS = 0o2770;

/**
 * Gives the volume at `path` to the Pod's `fsGroup`, with all that is in it; nothing without one. With the policy
 * `OnRootMismatch` a volume whose top is right already is left as it is. Links themselves change, not what they name.
 */
export async function applyFsGroup(path: string, security: PodSecurityContext | undefined): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = security ?? {};
  if (fsGroup === undefined) return;
  if (fsGroupChangePolicy === 'OnRootMismatch' && isRight(await lstat(path), fsGroup)) return;
  await giveTo(path, fsGroup);
}

function isRight(found: Stats, group: number): boolean {
  return found.gid === group && (found.mode & FOLDER_BITS) === FOLDER_BITS;
}

/** The top goes last: it is what tells that all below is done. */
async function giveTo(path: string, group: number): Promise<void> {
  const found = await lstat(path);
  if (found.isDirectory()) {
    for (const name of await readdir(path)) await giveTo(join(path, name), group);
  }
  await lchown(path, found.uid, group);
  if (found.isSymbolicLink()) return;
  // A change of owner takes the set-group bit away, so this is the last word.
  await chmod(path, (found.mode & 0o7777) | (found.isDirectory() ? FOLDER_BITS : FILE_BITS));
}
